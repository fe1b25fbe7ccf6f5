import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTurns } from "./turns.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const limits = { patienceMs: 100, longestMs: 500 };

test("[G11] so many work at a time, the others in order, however many there are while they are quick", async () => {
  const turns = createTurns({ most: 2, ...limits });
  let working = 0;
  const started: number[] = [];
  const all = Array.from({ length: 7 }, (_, i) =>
    turns.take(async () => {
      started.push(i);
      expect(++working).toBeLessThanOrEqual(2);
      await sleep(40);
      working--;
      return i;
    }),
  );
  await vi.advanceTimersByTimeAsync(1_000);
  // The last one waited 120 ms, but never 100 without a turn that ended.
  expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test.each([
  ["nobody's turn ends", 300, 1],
  ["it has waited too long in all", 90, 6],
])("[G11] one goes without when %s", async (_, ms, done) => {
  const turns = createTurns({ most: 1, ...limits });
  const all = Array.from({ length: 12 }, () => turns.take(() => sleep(ms).then(() => "done")));
  await vi.advanceTimersByTimeAsync(2_000);
  expect((await Promise.all(all)).filter((one) => one === "done")).toHaveLength(done);
});

test("[G11] work that fails gives its place on", async () => {
  const turns = createTurns({ most: 1, ...limits });
  const failing = turns.take(async () => {
    await sleep(10);
    throw new Error("no");
  });
  const next = turns.take(async () => "done");
  await Promise.all([expect(failing).rejects.toThrow("no"), vi.advanceTimersByTimeAsync(20)]);
  expect(await next).toBe("done");
  expect(await turns.take(async () => "again")).toBe("again");
});
