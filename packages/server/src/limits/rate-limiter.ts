import type { TokenBucket } from "limiter";
import { fullBucket } from "./full-bucket.ts";

/** A bucket for each key, in this process's memory. */
export interface RateLimiter {
  /** How many may come at once. */
  readonly burst: number;
  /** Takes one: how many are left then, or -1 when there was none. */
  take(key: string): number;
  hasNone(key: string): boolean;
  /** Whole seconds until all of them are there again. */
  resetSeconds(key: string): number;
}

/** Keys that are remembered: beyond it, those whose bucket is full again are dropped, and then the oldest. */
const MOST_KEYS = 10_000;
const SWEEP_MS = 1_000;

/** Undefined for a rate of 0: there is no limit. */
export function createRateLimiter(perSecond: number, burst: number, mostKeys = MOST_KEYS): RateLimiter | undefined {
  if (perSecond === 0) return undefined;
  const buckets = new Map<string, TokenBucket>();
  let sweptAt = Number.NEGATIVE_INFINITY;

  function makeRoom(): void {
    const now = performance.now();
    if (now - sweptAt >= SWEEP_MS) {
      sweptAt = now;
      for (const [key, bucket] of buckets) if (leftIn(bucket) >= burst) buckets.delete(key);
    }
    if (buckets.size >= mostKeys) buckets.delete(buckets.keys().next().value as string);
  }

  function bucketOf(key: string): TokenBucket {
    const known = buckets.get(key);
    if (known) return known;
    if (buckets.size >= mostKeys) makeRoom();
    const bucket = fullBucket(perSecond, burst);
    buckets.set(key, bucket);
    return bucket;
  }

  return {
    burst,
    take(key) {
      const bucket = bucketOf(key);
      return bucket.tryRemoveTokens(1) ? bucket.content : -1;
    },
    hasNone(key) {
      const bucket = buckets.get(key);
      return bucket !== undefined && leftIn(bucket) < 1;
    },
    resetSeconds: (key) => Math.ceil((buckets.get(key)?.getWaitTime(burst) ?? 0) / 1_000),
  };
}

function leftIn(bucket: TokenBucket): number {
  bucket.drip();
  return bucket.content;
}
