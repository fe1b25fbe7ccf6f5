import { nanoid } from "nanoid";
import type { Clock, Dice } from "./ports.ts";

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  wait(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};

export const systemDice: Dice = { roll: () => Math.random(), id: () => nanoid() };
