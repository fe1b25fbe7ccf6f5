import { expect, test, vi } from "vitest";
import { afterPaint, doWhatIsDue } from "./after-paint.ts";

test("what need not be shown is done after the paint, in the order asked for, and once", async () => {
  const done: string[] = [];
  let frame = () => {};
  vi.spyOn(window, "requestAnimationFrame").mockImplementation((paint) => {
    frame = () => paint(0);
    return 1;
  });
  afterPaint(() => done.push("saved"));
  afterPaint(() => done.push("released"));
  frame();
  expect(done).toEqual([]);
  await vi.waitFor(() => expect(done).toEqual(["saved", "released"]), { timeout: 90, interval: 5 });
  doWhatIsDue();
  expect(done).toEqual(["saved", "released"]);
});

test("a window that is not painted, or is left, does it all the same", async () => {
  const done: string[] = [];
  vi.spyOn(window, "requestAnimationFrame").mockReturnValue(1);
  afterPaint(() => done.push("behind another window"));
  await vi.waitFor(() => expect(done).toEqual(["behind another window"]));
  afterPaint(() => done.push("left"));
  dispatchEvent(new Event("pagehide"));
  expect(done).toEqual(["behind another window", "left"]);
});
