import type { Batch } from "../../flows/commits/commit-round.ts";
import type { FollowLog, PolledHead } from "../../flows/log/follow-log.ts";
import type { LiveSchema } from "../../flows/schema/schema-cache.ts";
import type { HeadPoll } from "./head-poll.ts";
import { type News, newsOfBatch, newsOfEntries } from "./news.ts";
import { createPace } from "./pace.ts";
import { createTail, type Tail } from "./tail.ts";
import { createTailReader } from "./tail-reader.ts";

/** A consumer of one tenant's log in this process: a stream session or a long poll. */
export interface Listener {
  hear(news: News): void;
  /** A schema was pushed. `rowsChanged`: records have changed without a log entry. */
  schemaPushed(schema: LiveSchema, rowsChanged: boolean): void;
}

/**
 * Passes new log entries to all listeners of this process, by tenant. A tenant without listeners costs nothing.
 *
 * The first listener opens the tenant: the hub reads its head and follows the log from there (see tail.ts). Positions
 * that are reported during this read are kept in `opening` and read afterwards, so that no entry is lost in between.
 * After that, rounds of this process are delivered from memory, and everything else is read when a hint or the poll
 * reports it.
 */
export interface Hub {
  listen(tenant: number, listener: Listener): Promise<Subscription>;
  /** A round of this process was committed. */
  committed(batch: Batch): void;
  /** Another process reports the end of a tenant's log. Undefined: the log has grown, but the position is unknown. */
  hint(tenant: number, position: number | undefined): void;
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

interface Audience {
  readonly tail: Tail;
  readonly listeners: Set<Listener>;
  erasedTo: number;
  schema: LiveSchema;
  end(): void;
}

/** The log has grown to an unknown position: read to its end. */
const TO_THE_END = Number.MAX_SAFE_INTEGER;

export function createHub(log: FollowLog, poll: HeadPoll, failed: (error: unknown) => void): Hub {
  const audiences = new Map<number, Promise<Audience>>();
  const ready = new Map<number, Audience>();
  /** The log positions reported for tenants whose head is being read. */
  const opening = new Map<number, number>();
  /** How often `forget` was called. */
  let eras = 0;
  const reader = createTailReader({
    read: log.tails,
    positionOf: (tenant) => ready.get(tenant)?.tail.position,
    tell: ({ tenant, from, to, entries, schema }) => {
      const audience = ready.get(tenant);
      if (audience) take(audience, newsOfEntries(from, to, entries, schema));
    },
    failed,
  });

  async function open(tenant: number): Promise<Audience> {
    const era = eras;
    opening.set(tenant, 0);
    const { head, schema } = await log.standing(tenant).catch((error: unknown) => {
      opening.delete(tenant);
      throw error;
    });
    // `forget` was called meanwhile, so this head may belong to the old log.
    if (era !== eras) return await audienceOf(tenant);
    const listeners = new Set<Listener>();
    const tail = createTail({
      position: head.syncId,
      tell: createPace((news) => {
        for (const listener of listeners) listener.hear(news);
      }),
      missing: (to) => reader.want(tenant, to),
    });
    const audience = {
      ...{ tail, listeners, schema, erasedTo: head.erasedTo },
      end: poll.watch(tenant, (polled) => compare(tenant, polled)),
    };
    ready.set(tenant, audience);
    // Read what was committed while the head was read.
    reader.want(tenant, opening.get(tenant) ?? 0);
    opening.delete(tenant);
    return audience;
  }

  /**
   * Delivers news to an audience. Raises `erasedTo` before the position moves, so that pages which were read before the
   * erasure are not sent.
   */
  function take(audience: Audience, news: News): void {
    for (const { verb, syncId } of news.lines)
      if (verb === "erased") audience.erasedTo = Math.max(audience.erasedTo, syncId);
    audience.tail.news(news);
  }

  function audienceOf(tenant: number): Promise<Audience> {
    let audience = audiences.get(tenant);
    if (!audience) {
      audience = open(tenant);
      audiences.set(tenant, audience);
      audience.catch(() => audiences.delete(tenant));
    }
    return audience;
  }

  function compare(tenant: number, { syncId, schemaVersion }: PolledHead): void {
    const audience = ready.get(tenant);
    if (!audience) return;
    reader.want(tenant, syncId);
    if (schemaVersion !== audience.schema.version) void tellSchema(tenant, audience).catch(failed);
  }

  async function tellSchema(tenant: number, audience: Audience): Promise<void> {
    const { schema } = await log.standing(tenant);
    const before = audience.schema;
    if (schema.version === before.version) return;
    audience.schema = schema;
    const rowsChanged = schema.rowsVersion > before.version;
    for (const listener of audience.listeners) listener.schemaPushed(schema, rowsChanged);
  }

  /** A tenant's log extends at least to this position. */
  function reaches(tenant: number, position: number): void {
    if (opening.has(tenant)) opening.set(tenant, Math.max(position, opening.get(tenant) ?? 0));
    else if (ready.has(tenant)) reader.want(tenant, position);
  }

  return {
    async listen(tenant, listener) {
      let audience = await audienceOf(tenant);
      // While we waited, the last listener may have left and closed the audience.
      while (ready.get(tenant) !== audience) audience = await audienceOf(tenant);
      audience.listeners.add(listener);
      return {
        position: () => audience.tail.position,
        erasedTo: () => audience.erasedTo,
        end: () => {
          audience.listeners.delete(listener);
          if (audience.listeners.size > 0 || ready.get(tenant) !== audience) return;
          audience.end();
          ready.delete(tenant);
          audiences.delete(tenant);
        },
      };
    },
    committed(batch) {
      const audience = ready.get(batch.tenant);
      if (audience) take(audience, newsOfBatch(batch));
      else reaches(batch.tenant, batch.to);
    },
    hint: (tenant, position = TO_THE_END) => reaches(tenant, position),
    schemaHint(tenant) {
      const audience = ready.get(tenant);
      if (audience) void tellSchema(tenant, audience).catch(failed);
    },
    forget() {
      eras += 1;
      for (const audience of ready.values()) audience.end();
      ready.clear();
      audiences.clear();
    },
  };
}

/** Waits until a tenant's log extends beyond a position, for at most `waitMs` or until the client disconnects. */
export async function awaitNews(
  hub: Hub,
  tenant: number,
  after: number,
  waitMs: number,
  signal: AbortSignal,
): Promise<void> {
  let wake: () => void = () => {};
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const subscription = await hub.listen(tenant, { hear: () => wake(), schemaPushed: () => {} });
  const timer = setTimeout(wake, waitMs);
  signal.addEventListener("abort", wake, { once: true });
  if (subscription.position() > after || signal.aborted) wake();
  await woken;
  clearTimeout(timer);
  signal.removeEventListener("abort", wake);
  subscription.end();
}
