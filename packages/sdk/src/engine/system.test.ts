import { expect, test, vi } from "vitest";
import { systemClock } from "./system.ts";

test("[N10] a wait beyond the longest setTimeout is waited in full", () => {
  vi.useFakeTimers();
  try {
    const days = 60 * 86_400_000;
    const due = vi.fn();
    systemClock.wait(days, due);
    const off = systemClock.wait(days, () => expect.fail("It was called off."));
    vi.advanceTimersByTime(days - 1);
    expect(due).not.toHaveBeenCalled();
    off();
    vi.advanceTimersByTime(1);
    expect(due).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
