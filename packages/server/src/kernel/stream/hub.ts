import type { CommittedBatch } from "../commits/flows/round-result.ts";
import type { CurrentLog, FollowLog, PolledHead } from "../log/flows/follow-log.ts";
import { createReaderIndex, type Interest, type ReaderIndex } from "../log/rules/reader-index.ts";
import type { LiveSchema } from "../schema/flows/schema-cache.ts";
import type { HeadPoll } from "./head-poll.ts";
import { type News, newsOfBatch, newsOfEntries } from "./news.ts";
import { createPace } from "./pace.ts";
import { createTail, type Tail } from "./tail.ts";
import { createTailReader } from "./tail-reader.ts";
import { createTellInTurn } from "./tell-in-turn.ts";
import { createTopics, type Topic } from "./topics.ts";

/** A consumer of one tenant's log in this process: a stream session or a long poll. */
export interface Listener {
  /** News that may be for it: some entries may be of what it has not asked for. */
  onNews(news: News): void;
  /** The log has gone on, maybe without news for it. Returns whether it has told its reader. */
  onGoneOn?(): boolean;
  /** A schema was pushed. `rowsChanged`: records have changed without a log entry. */
  onSchemaPushed(schema: LiveSchema, rowsChanged: boolean): void;
}

/**
 * Passes new log entries to the listeners of this process, by tenant: to each what may be for it.
 *
 * The first listener opens the tenant's topic: the hub reads its head and follows the log from there (see tail.ts).
 * Positions that are reported during this read are read afterwards. After that, rounds of this process are delivered
 * from memory, and everything else is read when a hint or the poll reports it.
 */
export interface Hub {
  listen(tenant: number, listener: Listener): Promise<Subscription>;
  /** A round of this process was committed. */
  committed(batch: CommittedBatch): void;
  /** A tenant's log extends at least to this position. */
  reached(tenant: number, position: number): void;
  /** A schema was pushed, here or in another process. */
  schemaChanged(tenant: number): void;
  /** The logs were replaced. Current listeners receive nothing more; new listeners receive the new logs. */
  forget(): void;
}

export interface Subscription {
  /** Every entry up to this position was delivered or will be, or precedes the subscription. */
  position(): number;
  /** How far listeners have been given the news that are for them, and under which schema. Undefined: not yet. */
  delivered(): Delivered | undefined;
  /** What the listener is given from now on. Before, it is given nothing. */
  hear(interest: Interest): void;
  /** The position of the newest erasure up to `position()`. */
  erasedTo(): number;
  end(): void;
}

export type Delivered = Pick<News, "to" | "schemaVersion" | "rowsVersion">;

interface LogTopic extends Topic {
  readonly tail: Tail;
  /** What they want to hear. Null: nothing yet. */
  readonly listeners: Map<Listener, Interest | null>;
  /** Who hears what, by the models of a version of the schema. */
  index: ReaderIndex<Listener>;
  indexVersion: number;
  delivered: Delivered | undefined;
  erasedTo: number;
  schema: LiveSchema;
}

function* goneOnOf({ listeners }: LogTopic): Generator<() => boolean> {
  for (const listener of listeners.keys()) if (listener.onGoneOn) yield listener.onGoneOn;
}

/** `clock`: by which its telling is paced, see pace.ts. */
export function createHub(log: FollowLog, poll: HeadPoll, failed: (error: unknown) => void, clock?: () => number): Hub {
  const topics = createTopics({ read: log.current, open });
  const inTurn = createTellInTurn(goneOnOf);
  const reader = createTailReader({
    read: log.tails,
    positionOf: (tenant) => topics.get(tenant)?.tail.position,
    publish: ({ tenant, from, to, entries, schema }) => {
      const topic = topics.get(tenant);
      if (topic) take(topic, newsOfEntries(from, to, entries, schema));
    },
    failed,
  });

  function open(tenant: number, { head, schema }: CurrentLog): LogTopic {
    const tail = createTail({
      position: head.syncId,
      publish: createPace((news) => publish(topic, news), clock),
      missing: (to) => reader.readUpTo(tenant, to),
    });
    const stopWatch = poll.watch(tenant, (polled) => compare(tenant, polled));
    const topic: LogTopic = {
      ...{ tail, schema, listeners: new Map(), delivered: undefined, erasedTo: head.erasedTo },
      ...{ index: createReaderIndex(schema.models), indexVersion: schema.version },
      close() {
        stopWatch();
        inTurn.forget(topic);
      },
    };
    return topic;
  }

  function publish(topic: LogTopic, news: News): void {
    if (news.schemaVersion !== topic.indexVersion) reindex(topic, news);
    const { ofEverything } = topic.index;
    const concerned = topic.index.concernedBy(news.entries);
    for (const listener of ofEverything) listener.onNews(news);
    for (const listener of concerned) listener.onNews(news);
    topic.delivered = news;
    inTurn.wentOn(topic);
  }

  /** A push may have changed what values the fields have. */
  function reindex(topic: LogTopic, { models, schemaVersion }: News): void {
    topic.index = createReaderIndex(models);
    topic.indexVersion = schemaVersion;
    for (const [listener, interest] of topic.listeners) if (interest) topic.index.add(listener, interest);
  }

  /**
   * Delivers news to a topic. Raises `erasedTo` before the position moves, so that pages which were read before the
   * erasure are not sent.
   */
  function take(topic: LogTopic, news: News): void {
    for (const { verb, syncId } of news.entries)
      if (verb === "erased") topic.erasedTo = Math.max(topic.erasedTo, syncId);
    topic.tail.news(news);
  }

  function compare(tenant: number, { syncId, schemaVersion }: PolledHead): void {
    const topic = topics.get(tenant);
    if (!topic) return;
    reader.readUpTo(tenant, syncId);
    if (schemaVersion !== topic.schema.version) void publishSchema(tenant, topic).catch(failed);
  }

  async function publishSchema(tenant: number, topic: LogTopic): Promise<void> {
    const { schema } = await log.current(tenant);
    const before = topic.schema;
    if (schema.version === before.version) return;
    topic.schema = schema;
    const rowsChanged = schema.rowsVersion > before.version;
    for (const listener of topic.listeners.keys()) listener.onSchemaPushed(schema, rowsChanged);
  }

  /** A tenant's log extends at least to this position. */
  const reached = (tenant: number, position: number) =>
    topics.whenOpen(tenant, () => reader.readUpTo(tenant, position));

  return {
    async listen(tenant, listener) {
      const { topic, end } = await topics.subscribe(tenant);
      topic.listeners.set(listener, null);
      return {
        position: () => topic.tail.position,
        delivered: () => topic.delivered,
        erasedTo: () => topic.erasedTo,
        hear: (interest) => {
          if (!topic.listeners.has(listener)) return;
          topic.listeners.set(listener, interest);
          topic.index.add(listener, interest);
        },
        end: () => {
          topic.listeners.delete(listener);
          topic.index.remove(listener);
          end();
        },
      };
    },
    committed(batch) {
      const topic = topics.get(batch.tenant);
      if (topic) take(topic, newsOfBatch(batch));
      else reached(batch.tenant, batch.to);
    },
    reached,
    schemaChanged(tenant) {
      const topic = topics.get(tenant);
      if (topic) void publishSchema(tenant, topic).catch(failed);
    },
    forget: topics.closeAll,
  };
}
