import { expect, test, vi } from "vitest";
import { createPace } from "./delivery-pace.ts";

test("[W23] while commits come deliveries begin one after the other, else at once", async () => {
  vi.useFakeTimers();
  try {
    let busy = true;
    const pace = createPace({ isBusy: () => busy, everyMs: 10, monotonic: () => Date.now() });
    const begun: number[] = [];
    const start = Date.now();
    const all = Array.from({ length: 4 }, () => pace().then(() => begun.push(Date.now() - start)));
    await vi.advanceTimersByTimeAsync(100);
    await Promise.all(all);
    expect(begun).toEqual([0, 10, 20, 30]);
    const later = Date.now();
    await pace();
    expect(Date.now()).toBe(later);
    busy = false;
    await Promise.all(Array.from({ length: 4 }, pace));
    expect(Date.now()).toBe(later);
  } finally {
    vi.useRealTimers();
  }
});
