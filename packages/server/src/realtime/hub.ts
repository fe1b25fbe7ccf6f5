import type { Batch } from "../flows/commit-round.ts";
import type { FollowLog } from "../flows/follow-log.ts";
import type { LiveSchema } from "../flows/schema-cache.ts";
import { type News, newsOfBatch } from "./news.ts";
import { createPace } from "./pace.ts";
import { createTail, type Tail } from "./tail.ts";

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
  /** Another process says that a world's log has grown, or its schema changed. */
  hint(world: number): void;
  close(): void;
}

export interface Subscription {
  /** Everything up to here was told, or came before the subscription. */
  position(): number;
  end(): void;
}

interface Audience {
  readonly tail: Tail;
  readonly listeners: Set<Listener>;
  schema: LiveSchema;
}

const POLL_MS = 1_000;

export function createHub(log: FollowLog, failed: (error: unknown) => void): Hub {
  const audiences = new Map<number, Promise<Audience>>();
  const ready = new Map<number, Audience>();
  const polling = setInterval(() => void poll().catch(failed), POLL_MS).unref();

  async function open(world: number): Promise<Audience> {
    const [head, schema] = [await log.head(world), await log.schema(world)];
    const listeners = new Set<Listener>();
    const tail = createTail({
      log,
      world,
      position: head.syncId,
      tell: createPace((news) => {
        for (const listener of listeners) listener.hear(news);
      }),
      failed,
    });
    const audience = { tail, listeners, schema };
    ready.set(world, audience);
    // What was committed while the head was read is not lost: the tail looks once more.
    tail.look();
    return audience;
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

  /** The truth behind the hints: where the logs end, and which schema is the newest. */
  async function poll(): Promise<void> {
    if (ready.size === 0) return;
    for (const [world, { syncId, schemaVersion }] of await log.positions([...ready.keys()])) {
      const audience = ready.get(world);
      if (!audience) continue;
      if (syncId > audience.tail.position) audience.tail.look();
      if (schemaVersion !== audience.schema.version) await tellSchema(world, audience);
    }
  }

  async function tellSchema(world: number, audience: Audience): Promise<void> {
    const before = audience.schema;
    audience.schema = await log.schema(world);
    if (audience.schema.version === before.version) return;
    const rowsChanged = audience.schema.rowsVersion > before.version;
    for (const listener of audience.listeners) listener.schemaPushed(audience.schema, rowsChanged);
  }

  return {
    async listen(world, listener) {
      let audience = await audienceOf(world);
      // The last listener may have left, and the audience with it, while we waited for it.
      while (ready.get(world) !== audience) audience = await audienceOf(world);
      audience.listeners.add(listener);
      return {
        position: () => audience.tail.position,
        end: () => {
          audience.listeners.delete(listener);
          if (audience.listeners.size > 0 || ready.get(world) !== audience) return;
          ready.delete(world);
          audiences.delete(world);
        },
      };
    },
    committed: (batch) => ready.get(batch.world)?.tail.news(newsOfBatch(batch)),
    hint: (world) => {
      const audience = ready.get(world);
      if (!audience) return;
      audience.tail.look();
      void poll().catch(failed);
    },
    close: () => clearInterval(polling),
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
