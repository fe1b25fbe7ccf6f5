import { setTimeout as pause } from "node:timers/promises";

/** Waits until something holds, and asks every 25 ms. Fails after `ms`. */
export async function until(holds: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  for (const end = performance.now() + ms; !(await holds()); await pause(25))
    if (performance.now() > end) throw new Error(`It did not hold within ${ms} ms.`);
}
