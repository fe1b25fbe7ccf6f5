import type { Batch } from "../flows/commit-round.ts";
import type { FollowLog, PolledHead } from "../flows/follow-log.ts";
import type { LiveSchema } from "../flows/schema-cache.ts";
import type { HeadPoll } from "./head-poll.ts";
import { type News, newsOfBatch, newsOfEntries } from "./news.ts";
import { createPace } from "./pace.ts";
import { createTail, type Tail } from "./tail.ts";
import { createTailReader } from "./tail-reader.ts";

/** Somebody in this process who hears one world's log: a stream session, or a long poll. */
export interface Listener {
  hear(news: News): void;
  /** A schema was pushed; `rowsChanged` when records look otherwise now without an entry in the log. */
  schemaPushed(schema: LiveSchema, rowsChanged: boolean): void;
}

/** Everybody in this process who listens, by world. A world without listeners costs nothing. */
export interface Hub {
  listen(world: number, listener: Listener): Promise<Subscription>;
  /** A round of this process was committed. */
  committed(batch: Batch): void;
  /** Another process says how far a world's log reaches; undefined: it has grown. */
  hint(world: number, position: number | undefined): void;
  /** A schema was pushed, here or in another process. */
  schemaHint(world: number): void;
  /** The logs are others now. Who listens hears nothing more; who comes anew hears the new ones. */
  forget(): void;
}

export interface Subscription {
  /** Everything up to here was told, or came before the subscription. */
  position(): number;
  /** Where the newest erasure up to there stands. */
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

/** Of a log that has grown we do not know how far: as far as it goes. */
const TO_THE_END = Number.MAX_SAFE_INTEGER;

export function createHub(log: FollowLog, poll: HeadPoll, failed: (error: unknown) => void): Hub {
  const audiences = new Map<number, Promise<Audience>>();
  const ready = new Map<number, Audience>();
  /** What was said of worlds whose head was just being read: how far their logs reach. */
  const opening = new Map<number, number>();
  /** How often all was forgotten. */
  let eras = 0;
  const reader = createTailReader({
    read: log.tails,
    positionOf: (world) => ready.get(world)?.tail.position,
    tell: ({ world, from, to, entries, schema }) => {
      const audience = ready.get(world);
      if (audience) take(audience, newsOfEntries(from, to, entries, schema));
    },
    failed,
  });

  async function open(world: number): Promise<Audience> {
    const era = eras;
    opening.set(world, 0);
    const { head, schema } = await log.standing(world).catch((error: unknown) => {
      opening.delete(world);
      throw error;
    });
    // Its head may be that of the old log.
    if (era !== eras) return await audienceOf(world);
    const listeners = new Set<Listener>();
    const tail = createTail({
      position: head.syncId,
      tell: createPace((news) => {
        for (const listener of listeners) listener.hear(news);
      }),
      missing: (to) => reader.want(world, to),
    });
    const audience = {
      ...{ tail, listeners, schema, erasedTo: head.erasedTo },
      end: poll.watch(world, (polled) => compare(world, polled)),
    };
    ready.set(world, audience);
    // What was committed while the head was read is not lost.
    reader.want(world, opening.get(world) ?? 0);
    opening.delete(world);
    return audience;
  }

  /** News for an audience. An erasure counts before its position does: what was read before it is then not told any more. */
  function take(audience: Audience, news: News): void {
    for (const { verb, syncId } of news.lines)
      if (verb === "erased") audience.erasedTo = Math.max(audience.erasedTo, syncId);
    audience.tail.news(news);
  }

  function audienceOf(world: number): Promise<Audience> {
    let audience = audiences.get(world);
    if (!audience) {
      audience = open(world);
      audiences.set(world, audience);
      audience.catch(() => audiences.delete(world));
    }
    return audience;
  }

  function compare(world: number, { syncId, schemaVersion }: PolledHead): void {
    const audience = ready.get(world);
    if (!audience) return;
    reader.want(world, syncId);
    if (schemaVersion !== audience.schema.version) void tellSchema(world, audience).catch(failed);
  }

  async function tellSchema(world: number, audience: Audience): Promise<void> {
    const { schema } = await log.standing(world);
    const before = audience.schema;
    if (schema.version === before.version) return;
    audience.schema = schema;
    const rowsChanged = schema.rowsVersion > before.version;
    for (const listener of audience.listeners) listener.schemaPushed(schema, rowsChanged);
  }

  /** It is known that a log reaches so far. */
  function reaches(world: number, position: number): void {
    if (opening.has(world)) opening.set(world, Math.max(position, opening.get(world) ?? 0));
    else if (ready.has(world)) reader.want(world, position);
  }

  return {
    async listen(world, listener) {
      let audience = await audienceOf(world);
      // The last listener may have left, and the audience with it, while we waited for it.
      while (ready.get(world) !== audience) audience = await audienceOf(world);
      audience.listeners.add(listener);
      return {
        position: () => audience.tail.position,
        erasedTo: () => audience.erasedTo,
        end: () => {
          audience.listeners.delete(listener);
          if (audience.listeners.size > 0 || ready.get(world) !== audience) return;
          audience.end();
          ready.delete(world);
          audiences.delete(world);
        },
      };
    },
    committed(batch) {
      const audience = ready.get(batch.world);
      if (audience) take(audience, newsOfBatch(batch));
      else reaches(batch.world, batch.to);
    },
    hint: (world, position = TO_THE_END) => reaches(world, position),
    schemaHint(world) {
      const audience = ready.get(world);
      if (audience) void tellSchema(world, audience).catch(failed);
    },
    forget() {
      eras += 1;
      for (const audience of ready.values()) audience.end();
      ready.clear();
      audiences.clear();
    },
  };
}

/** Waits until a world's log reaches beyond a position, `waitMs` are over, or nobody waits any more. */
export async function awaitNews(
  hub: Hub,
  world: number,
  after: number,
  waitMs: number,
  signal: AbortSignal,
): Promise<void> {
  let wake: () => void = () => {};
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const subscription = await hub.listen(world, { hear: () => wake(), schemaPushed: () => {} });
  const timer = setTimeout(wake, waitMs);
  signal.addEventListener("abort", wake, { once: true });
  if (subscription.position() > after || signal.aborted) wake();
  await woken;
  clearTimeout(timer);
  signal.removeEventListener("abort", wake);
  subscription.end();
}
