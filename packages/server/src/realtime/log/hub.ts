import type { CommittedBatch } from "../../flows/commits/round-result.ts";
import type { CurrentLog, FollowLog, PolledHead } from "../../flows/log/follow-log.ts";
import type { LiveSchema } from "../../flows/schema/schema-cache.ts";
import { createTopics, type Topic } from "../topics.ts";
import type { HeadPoll } from "./head-poll.ts";
import { type News, newsOfBatch, newsOfEntries } from "./news.ts";
import { createPace } from "./pace.ts";
import { createTail, type Tail } from "./tail.ts";
import { createTailReader } from "./tail-reader.ts";

/** A consumer of one tenant's log in this process: a stream session or a long poll. */
export interface Listener {
  onNews(news: News): void;
  /** A schema was pushed. `rowsChanged`: records have changed without a log entry. */
  onSchemaPushed(schema: LiveSchema, rowsChanged: boolean): void;
}

/**
 * Passes new log entries to all listeners of this process, by tenant.
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
  hint(tenant: number, position: number): void;
  /** A schema was pushed, here or in another process. */
  schemaHint(tenant: number): void;
  /** The logs were replaced. Current listeners receive nothing more; new listeners receive the new logs. */
  forget(): void;
}

export interface Subscription {
  /** Every entry up to this position was delivered, or precedes the subscription. */
  position(): number;
  /** The position of the newest erasure up to `position()`. */
  erasedTo(): number;
  end(): void;
}

interface LogTopic extends Topic {
  readonly tail: Tail;
  readonly listeners: Set<Listener>;
  erasedTo: number;
  schema: LiveSchema;
}

export function createHub(log: FollowLog, poll: HeadPoll, failed: (error: unknown) => void): Hub {
  const topics = createTopics({ read: log.current, open });
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
    const listeners = new Set<Listener>();
    const tail = createTail({
      position: head.syncId,
      publish: createPace((news) => {
        for (const listener of listeners) listener.onNews(news);
      }),
      missing: (to) => reader.want(tenant, to),
    });
    return {
      ...{ tail, listeners, schema, erasedTo: head.erasedTo },
      close: poll.watch(tenant, (polled) => compare(tenant, polled)),
    };
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
    reader.want(tenant, syncId);
    if (schemaVersion !== topic.schema.version) void publishSchema(tenant, topic).catch(failed);
  }

  async function publishSchema(tenant: number, topic: LogTopic): Promise<void> {
    const { schema } = await log.current(tenant);
    const before = topic.schema;
    if (schema.version === before.version) return;
    topic.schema = schema;
    const rowsChanged = schema.rowsVersion > before.version;
    for (const listener of topic.listeners) listener.onSchemaPushed(schema, rowsChanged);
  }

  /** A tenant's log extends at least to this position. */
  const reaches = (tenant: number, position: number) => topics.whenOpen(tenant, () => reader.want(tenant, position));

  return {
    async listen(tenant, listener) {
      const { topic, end } = await topics.subscribe(tenant);
      topic.listeners.add(listener);
      return {
        position: () => topic.tail.position,
        erasedTo: () => topic.erasedTo,
        end: () => {
          topic.listeners.delete(listener);
          end();
        },
      };
    },
    committed(batch) {
      const topic = topics.get(batch.tenant);
      if (topic) take(topic, newsOfBatch(batch));
      else reaches(batch.tenant, batch.to);
    },
    hint: reaches,
    schemaHint(tenant) {
      const topic = topics.get(tenant);
      if (topic) void publishSchema(tenant, topic).catch(failed);
    },
    forget: topics.closeAll,
  };
}
