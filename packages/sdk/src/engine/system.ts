import { nanoid } from "nanoid";
import type { Clock, Random } from "./ports.ts";

const LONGEST_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  wait(ms, then) {
    let timer: ReturnType<typeof setTimeout>;
    const go = (left: number): void => {
      // setTimeout overflows above 2^31-1 ms and fires at once, so longer waits are split.
      timer = setTimeout(() => (left > LONGEST_MS ? go(left - LONGEST_MS) : then()), Math.min(left, LONGEST_MS));
    };
    go(ms);
    return () => clearTimeout(timer);
  },
};

export const systemRandom: Random = { roll: () => Math.random(), id: () => nanoid() };
