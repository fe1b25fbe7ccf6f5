import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startIndexer } from "./indexer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const TIMES = { everyMs: 1_000, busyMs: 10, failedMs: 100 };
const after = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test("[G10] indexes are looked after at the start, when woken, every so often, and soon again after a failure", async () => {
  const failures: unknown[] = [];
  const answers = [true, true, false, new Error("gone"), true];
  let runs = 0;
  const worker = startIndexer(
    async () => {
      const answer = answers[runs++] ?? true;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    TIMES,
    (error) => failures.push(error),
  );
  const counts: number[] = [];
  const count = async (ms: number) => {
    await after(ms);
    counts.push(runs);
  };
  await count(0);
  worker.wake();
  await count(0);
  await count(999);
  await count(1);
  await count(9);
  await count(1);
  await count(99);
  await count(1);
  await count(999);
  expect(counts).toEqual([1, 2, 2, 3, 3, 4, 4, 5, 5]);
  expect(failures).toHaveLength(1);
  await worker.stop();
  worker.wake();
  await after(5_000);
  expect(runs).toBe(5);
});

test("[G10] never twice at a time; who wakes it meanwhile gets a run of their own afterwards", async () => {
  let running = 0;
  let runs = 0;
  const worker = startIndexer(
    async () => {
      expect(++running).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 50));
      running--;
      runs++;
      return true;
    },
    TIMES,
    () => {},
  );
  await after(10);
  worker.wake();
  worker.wake();
  await after(500);
  expect(runs).toBe(2);
  await worker.stop();
});

test("[G10] stopping ends what is being done, and is no failure", async () => {
  const failures: unknown[] = [];
  const worker = startIndexer(
    (signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("let go")), { once: true })),
    TIMES,
    (error) => failures.push(error),
  );
  await after(100);
  await worker.stop();
  expect(failures).toEqual([]);
});
