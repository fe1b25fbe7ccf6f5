/**
 * What the listeners of this process follow of one tenant, for example the end of its log. A topic is open while it has
 * subscribers, so a tenant without listeners costs nothing:
 *
 *   first subscriber ─► read (asynchronous) ─► open ─► … ─► last subscriber leaves ─► close
 *                            │
 *                            └ `closeAll` was called meanwhile: read again, because this may be an old state
 *
 * `open` is synchronous and runs before anything else can happen, so between what was read and what the topic receives
 * nothing is lost.
 */
export interface Topics<T extends Topic> {
  /** Opens the topic, unless it is open. Keeps it open until the subscription ends. */
  subscribe(tenant: number): Promise<TopicSubscription<T>>;
  /** Undefined: it is not open. */
  get(tenant: number): T | undefined;
  /** Acts now if the topic is open, once it is open if it is being opened, and otherwise not at all. */
  whenOpen(tenant: number, act: (topic: T) => void): void;
  /** Closes all topics. Their subscribers receive nothing more; new subscribers open new topics. */
  closeAll(): void;
}

export interface Topic {
  close(): void;
}

export interface TopicSubscription<T> {
  readonly topic: T;
  end(): void;
}

export interface TopicOptions<T extends Topic, Start> {
  /** Reads where the topic starts. */
  read(tenant: number): Promise<Start>;
  open(tenant: number, start: Start): T;
}

interface Entry<T> {
  topic: T | undefined;
  subscribers: number;
  /** What has to be done once it is open. */
  readonly pending: ((topic: T) => void)[];
  readonly opened: Promise<void>;
}

export function createTopics<T extends Topic, Start>({ read, open }: TopicOptions<T, Start>): Topics<T> {
  // An entry leaves this map when it closes. If the tenant has listeners again, it gets another one.
  const entries = new Map<number, Entry<T>>();

  function newEntry(tenant: number): Entry<T> {
    const isCurrent = () => entries.get(tenant) === entry;
    const entry: Entry<T> = {
      topic: undefined,
      subscribers: 0,
      pending: [],
      opened: read(tenant).then(
        (start) => {
          if (!isCurrent()) return;
          const topic = open(tenant, start);
          entry.topic = topic;
          for (const act of entry.pending.splice(0)) act(topic);
        },
        (error: unknown) => {
          if (isCurrent()) entries.delete(tenant);
          throw error;
        },
      ),
    };
    entries.set(tenant, entry);
    return entry;
  }

  return {
    async subscribe(tenant) {
      for (;;) {
        const entry = entries.get(tenant) ?? newEntry(tenant);
        await entry.opened;
        const { topic } = entry;
        // While we waited, the last subscriber may have left, or all topics were closed.
        if (!topic || entries.get(tenant) !== entry) continue;
        entry.subscribers += 1;
        let hasEnded = false;
        return {
          topic,
          end() {
            if (hasEnded) return;
            hasEnded = true;
            entry.subscribers -= 1;
            if (entry.subscribers > 0 || entries.get(tenant) !== entry) return;
            entries.delete(tenant);
            topic.close();
          },
        };
      }
    },
    get: (tenant) => entries.get(tenant)?.topic,
    whenOpen(tenant, act) {
      const entry = entries.get(tenant);
      if (!entry) return;
      if (entry.topic) act(entry.topic);
      else entry.pending.push(act);
    },
    closeAll() {
      const all = [...entries.values()];
      entries.clear();
      for (const { topic } of all) topic?.close();
    },
  };
}
