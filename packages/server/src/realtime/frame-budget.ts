import { limits } from "@holdfast/sdk/protocol";

/** A bucket of frames that refills: 50 a second, 200 at once. Answers whether one more is within it. */
export function createFrameBudget(
  now: () => number,
  perSecond = limits.framesPerSecond,
  burst = limits.framesBurst,
): () => boolean {
  let left = burst as number;
  let at = now();
  return () => {
    const time = now();
    left = Math.min(burst, left + ((time - at) / 1_000) * perSecond);
    at = time;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
