import { TokenBucket } from "limiter";

/** A token bucket that starts full: so many at once, and so many more each second. */
export function fullBucket(perSecond: number, burst: number): TokenBucket {
  const bucket = new TokenBucket({ bucketSize: burst, tokensPerInterval: perSecond, interval: "second" });
  bucket.content = burst;
  return bucket;
}
