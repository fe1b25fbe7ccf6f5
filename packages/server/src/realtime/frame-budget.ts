import { limits } from "@holdfast/sdk/protocol";
import { leftAt } from "../rules/token-bucket.ts";

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
    left = leftAt({ left, at }, { perSecond, burst }, time);
    at = time;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
