import { leftAt, type Rate, secondsUntil } from "../rules/token-bucket.ts";

/** A bucket for each key, in this process's memory. */
export interface RateLimiter {
  /** How many may come at once. */
  readonly burst: number;
  /** Takes one: how many are left then, or -1 when there was none. */
  take(key: string): number;
  hasNone(key: string): boolean;
  /** Seconds until all of them are there again, with so many left. */
  resetSeconds(left: number): number;
}

/** Keys that are remembered: beyond it, those whose bucket is full again are dropped, and then the oldest. */
const MOST_KEYS = 10_000;
const SWEEP_MS = 1_000;

/** Undefined for a rate of 0: there is no limit. */
export function createRateLimiter(
  perSecond: number,
  burst: number,
  now: () => number,
  mostKeys = MOST_KEYS,
): RateLimiter | undefined {
  if (perSecond === 0) return undefined;
  const rate: Rate = { perSecond, burst };
  const buckets = new Map<string, { left: number; at: number }>();
  let sweptAt = Number.NEGATIVE_INFINITY;

  function makeRoom(time: number): void {
    if (time - sweptAt >= SWEEP_MS) {
      sweptAt = time;
      for (const [key, level] of buckets) if (leftAt(level, rate, time) >= burst) buckets.delete(key);
    }
    if (buckets.size >= mostKeys) buckets.delete(buckets.keys().next().value as string);
  }

  return {
    burst,
    take(key) {
      const time = now();
      const bucket = buckets.get(key);
      if (!bucket) {
        if (buckets.size >= mostKeys) makeRoom(time);
        buckets.set(key, { left: burst - 1, at: time });
        return burst - 1;
      }
      const left = leftAt(bucket, rate, time);
      bucket.at = time;
      bucket.left = left >= 1 ? left - 1 : left;
      return left >= 1 ? left - 1 : -1;
    },
    hasNone(key) {
      const bucket = buckets.get(key);
      return bucket !== undefined && leftAt(bucket, rate, now()) < 1;
    },
    resetSeconds: (left) => secondsUntil(burst, left, rate),
  };
}
