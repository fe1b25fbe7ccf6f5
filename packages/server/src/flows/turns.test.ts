import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTurns } from "./turns.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

test("[G11] so many work at a time, the others in order, and who waits too long goes without", async () => {
  const turns = createTurns({ most: 2, patienceMs: 100 });
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
  // Two at 0 ms, two at 40, two at 80; the last one waited 100.
  expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4, 5, undefined]);
  expect(started).toEqual([0, 1, 2, 3, 4, 5]);
});

test("[G11] work that fails gives its place on", async () => {
  const turns = createTurns({ most: 1, patienceMs: 100 });
  const failing = turns.take(async () => {
    await sleep(10);
    throw new Error("no");
  });
  const next = turns.take(async () => "done");
  await Promise.all([expect(failing).rejects.toThrow("no"), vi.advanceTimersByTimeAsync(20)]);
  expect(await next).toBe("done");
  expect(await turns.take(async () => "again")).toBe("again");
});
