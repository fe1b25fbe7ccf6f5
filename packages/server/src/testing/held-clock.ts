import { vi } from "vitest";

/**
 * Stops `performance.now`, which limits and time-outs are decided by, and moves it by hand. Timers go on in real time.
 * The end of the test starts it again.
 */
export function holdClock(): { pass(ms: number): void } {
  let at = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => at);
  return {
    pass(ms) {
      at += ms;
    },
  };
}
