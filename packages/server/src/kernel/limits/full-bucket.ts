import { TokenBucket } from "limiter";

/** A token bucket that starts full. */
export function fullBucket(perSecond: number, burst: number): TokenBucket {
  const bucket = new TokenBucket({ bucketSize: burst, tokensPerInterval: perSecond, interval: "second" });
  bucket.content = burst;
  return bucket;
}
