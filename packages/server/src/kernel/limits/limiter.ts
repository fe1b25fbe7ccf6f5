import { createFairQueue } from "./fair-queue.ts";

/**
 * Limits how much work runs at once, in total and per key (a tenant, or a token). Further work waits in fair order:
 * round-robin over keys, and over tokens within a key (see fair-queue.ts).
 *
 *   tryEnter, enter ─► has a slot ─► leave ─┬─► no waiting caller can use the slot: it is free at once
 *               └──► waits ◄───────────────────┴─► one can: in the next tick, the fair queue gives it away
 *
 * Until that tick the slot stays taken. So callers of the same tick are considered too, a new caller does not overtake
 * a waiting one, and a chain of quick work does not block the event loop.
 */
export interface Limiter<K extends string | number = number> {
  /** The number of callers that wait. */
  readonly waiting: number;
  /** Takes a slot, if one is free. Allocates nothing, because it runs for every request. */
  tryEnter(key: K): boolean;
  /** Waits for a slot. Returns whether the caller has one, which without `patience` is always so. */
  enter(key: K, token?: string, patience?: Patience): Promise<boolean>;
  /** Frees a slot of this key. */
  leave(key: K): void;
  /** Does the work with a slot, however long the wait. */
  take<T>(key: K, token: string, work: () => Promise<T>): Promise<T>;
}

export interface LimiterOptions {
  /** Slots in total. Absent: unlimited. */
  readonly most?: number;
  /** Slots of each key. Absent: unlimited. */
  readonly mostPerKey?: number;
}

export interface Patience {
  /** Give up after this time. */
  readonly waitMs: number;
  /** While slots are being freed, wait up to this time. */
  readonly longestMs?: number;
  /** Do not wait at all if so many callers of this key wait. */
  readonly mostWaiting?: number;
  /** Give up. */
  readonly signal?: AbortSignal;
}

interface Slots {
  taken: number;
}

/** Keys without a taken slot that are kept: adding one per request would cost more than everything else here. */
const IDLE_KEPT = 1_000;

export function createLimiter<K extends string | number = number>({
  most = Number.POSITIVE_INFINITY,
  mostPerKey = Number.POSITIVE_INFINITY,
}: LimiterOptions): Limiter<K> {
  const waiting = createFairQueue<() => void, K>();
  const slotsByKey = new Map<K, Slots>();
  let running = 0;
  /** The keys of slots that are given away in the next tick. */
  let freed: K[] = [];
  let freedAt = Number.NEGATIVE_INFINITY;

  function tryEnter(key: K): boolean {
    const own = slotsByKey.get(key) ?? newKey(key);
    if (running >= most || own.taken >= mostPerKey) return false;
    running += 1;
    own.taken += 1;
    return true;
  }

  function newKey(key: K): Slots {
    if (slotsByKey.size >= IDLE_KEPT)
      for (const [other, { taken }] of slotsByKey) if (taken === 0) slotsByKey.delete(other);
    const own = { taken: 0 };
    slotsByKey.set(key, own);
    return own;
  }

  function enter(key: K, token = "", patience?: Patience): Promise<boolean> {
    if (tryEnter(key)) return Promise.resolve(true);
    if (patience?.signal?.aborted || waiting.sizeOf(key) >= (patience?.mostWaiting ?? Number.POSITIVE_INFINITY))
      return Promise.resolve(false);
    return new Promise((resolve) => {
      const start = () => {
        stopWaiting?.();
        resolve(true);
      };
      const giveUp = () => {
        stopWaiting?.();
        waiting.remove(key, token, start);
        resolve(false);
      };
      const stopWaiting = patience && startWaiting(patience, () => freedAt, giveUp);
      waiting.push(key, token, start);
    });
  }

  function leave(key: K): void {
    if (waiting.size === 0 || (running < most && waiting.sizeOf(key) === 0)) return free(key);
    freedAt = performance.now();
    if (freed.length === 0) setImmediate(giveAway);
    freed.push(key);
  }

  function free(key: K): void {
    const own = slotsByKey.get(key);
    if (!own) return;
    running -= 1;
    own.taken -= 1;
  }

  function giveAway(): void {
    const keys = freed;
    freed = [];
    for (const key of keys) free(key);
    waiting.take(
      (start, key) => {
        if (!tryEnter(key)) return false;
        start();
        return true;
      },
      () => running < most,
    );
  }

  return {
    get waiting() {
      return waiting.size;
    },
    tryEnter,
    enter,
    leave,
    async take(key, token, work) {
      await enter(key, token);
      try {
        return await work();
      } finally {
        leave(key);
      }
    },
  };
}

/** Calls `giveUp` once the patience is over. Returns a function that stops the wait. */
function startWaiting(
  { waitMs, longestMs = waitMs, signal }: Patience,
  freedAt: () => number,
  giveUp: () => void,
): () => void {
  const since = performance.now();
  const check = () => {
    const leftMs = Math.min(Math.max(since, freedAt()) + waitMs, since + longestMs) - performance.now();
    if (leftMs > 0) timer = setTimeout(check, leftMs);
    // Slots that were freed before this moment are given away first.
    else setImmediate(giveUp);
  };
  let timer = setTimeout(check, waitMs);
  signal?.addEventListener("abort", giveUp, { once: true });
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
  };
}
