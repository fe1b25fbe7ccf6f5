import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { afterPaint, doWhatIsDue } from "./after-paint.ts";

const done: string[] = [];
let paint = () => {};

beforeEach(() => {
  done.length = 0;
  vi.useFakeTimers();
  vi.spyOn(window, "requestAnimationFrame").mockImplementation((frame) => {
    paint = () => frame(0);
    return 1;
  });
});
afterEach(() => vi.useRealTimers());

test("deferred work runs after the paint, in order, and once", () => {
  afterPaint(() => done.push("saved"));
  afterPaint(() => done.push("released"));
  paint();
  expect(done).toEqual([]);
  vi.advanceTimersByTime(0);
  expect(done).toEqual(["saved", "released"]);
  doWhatIsDue();
  vi.advanceTimersByTime(1_000);
  expect(done).toEqual(["saved", "released"]);
});

test("a window that is not painted does it all the same, and one that is left does it at once", () => {
  afterPaint(() => done.push("behind another window"));
  vi.advanceTimersByTime(100);
  expect(done).toEqual(["behind another window"]);
  afterPaint(() => done.push("left"));
  dispatchEvent(new Event("pagehide"));
  expect(done).toEqual(["behind another window", "left"]);
});

test("a failed task is reported, and the tasks behind it still run", () => {
  const reported = vi.fn();
  vi.stubGlobal("reportError", reported);
  const failure = new Error("The quota is used up.");
  afterPaint(() => {
    throw failure;
  });
  afterPaint(() => done.push("released"));
  doWhatIsDue();
  expect(done).toEqual(["released"]);
  expect(reported).toHaveBeenCalledExactlyOnceWith(failure);
  vi.unstubAllGlobals();
});
