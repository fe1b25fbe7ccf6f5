import { expect, test, vi } from "vitest";
import { createLoadMeter, createPace } from "./delivery-pace.ts";

test("[W23] while commits come deliveries begin a few at a time, else at once", async () => {
  vi.useFakeTimers();
  try {
    let busy = true;
    const pace = createPace({ isBusy: () => busy, most: 2, windowMs: 10, monotonic: () => Date.now() });
    const begun = async (count: number) => {
      const start = Date.now();
      const all = Promise.all(Array.from({ length: count }, () => pace().then(() => Date.now() - start)));
      await vi.advanceTimersByTimeAsync(100);
      return await all;
    };
    expect(await begun(5)).toEqual([0, 0, 10, 10, 20]);
    // What was not used up is not saved up.
    expect(await begun(3)).toEqual([0, 0, 10]);
    busy = false;
    expect(await begun(4)).toEqual([0, 0, 0, 0]);
  } finally {
    vi.useRealTimers();
  }
});

test("[W23] busy is what has been so for a moment, and no longer than a moment ago", () => {
  let now = 0;
  const load = createLoadMeter({ most: 10, windowMs: 100, monotonic: () => now });
  expect(load.isHigh()).toBe(false);
  load.add(9);
  expect(load.isHigh()).toBe(false);
  load.add(1);
  expect(load.isHigh()).toBe(true);
  now = 150;
  expect(load.isHigh()).toBe(true);
  load.add(5);
  now = 250;
  expect(load.isHigh()).toBe(false);
  load.add(5);
  now = 1_000;
  expect(load.isHigh()).toBe(false);
});
