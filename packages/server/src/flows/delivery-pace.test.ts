import { expect, test, vi } from "vitest";
import { createPace } from "./delivery-pace.ts";

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
