import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createReadiness, followReadiness } from "./readiness.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
const times = { keptMs: 1_000, patienceMs: 1_500 };

test("[O7] many who ask at once are one question, and its answer is kept for a second", async () => {
  const check = vi.fn(async () => true);
  const isReady = createReadiness(check, times);
  expect(await Promise.all(Array.from({ length: 50 }, isReady))).not.toContain(false);
  vi.advanceTimersByTime(999);
  expect(await isReady()).toBe(true);
  expect(check).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  check.mockRejectedValueOnce(new Error("gone"));
  expect(await isReady()).toBe(false);
  expect(check).toHaveBeenCalledTimes(2);
});

test("[O15] a database that does not answer is not ready after 1.5 s, and is not asked twice", async () => {
  let answer: (ready: boolean) => void = () => {};
  const check = vi.fn(() => new Promise<boolean>((resolve) => (answer = resolve)));
  const isReady = createReadiness(check, times);
  for (let i = 0; i < 3; i += 1) {
    const ready = isReady();
    await vi.advanceTimersByTimeAsync(1_500);
    expect(await ready).toBe(false);
  }
  expect(check).toHaveBeenCalledTimes(1);
  answer(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(await isReady()).toBe(true);
});

test("[O36] the time of the last change stays while the result does", async () => {
  let [ready, now] = [true, 10];
  const ask = followReadiness(
    async () => ready,
    () => now,
  );
  expect(await ask()).toEqual({ ready: true, since: 10 });
  now = 20;
  expect(await ask()).toEqual({ ready: true, since: 10 });
  ready = false;
  expect(await ask()).toEqual({ ready: false, since: 20 });
});
