import type { TokenBucket } from "limiter";
import { fullBucket } from "./full-bucket.ts";

/** A token bucket per key, in the memory of this process. */
export interface RateLimiter {
  /** The bucket's size. */
  readonly burst: number;
  /** Takes one token. Returns how many are left, or -1 if there was none. */
  take(key: string): number;
  hasNone(key: string): boolean;
  /** Whole seconds until the bucket is full again. */
  resetSeconds(key: string): number;
}

/** Most keys in memory. Above it, keys with a full bucket are dropped, then the oldest. */
const MOST_KEYS = 10_000;
const SWEEP_MS = 1_000;

/** Returns undefined for a rate of 0: no limit. */
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
