import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createRateLimiter, type RateLimiter } from "./rate-limiter.ts";

// The buckets read the clock themselves.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const limiter = (...limits: Parameters<typeof createRateLimiter>) => createRateLimiter(...limits) as RateLimiter;
const takes = (one: RateLimiter, key: string, times: number) =>
  Array.from({ length: times }, () => one.take(key)).filter((left) => left >= 0).length;

test("[B1] 200 at once, then 100 a second", () => {
  const one = limiter(100, 200);
  expect(takes(one, "a", 250)).toBe(200);
  vi.advanceTimersByTime(1_000);
  expect(takes(one, "a", 250)).toBe(100);
  vi.advanceTimersByTime(10_000);
  expect(takes(one, "a", 250)).toBe(200);
});

test("[B1] no sender, however it spreads its requests, gets more than the burst and the rate", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(30), { maxLength: 600 }), (pauses) => {
      const one = limiter(100, 200);
      const began = performance.now();
      let granted = 0;
      for (const pause of pauses) {
        vi.advanceTimersByTime(pause);
        granted += takes(one, "a", 1);
      }
      expect(granted).toBeLessThanOrEqual(200 + (performance.now() - began) / 10 + 1e-6);
    }),
    { seed: 20_260_131 },
  );
});

test("[B1] a refused request costs nothing, and other tokens are not affected", () => {
  const one = limiter(1, 2);
  expect(one.take("a")).toBe(1);
  expect(one.take("a")).toBe(0);
  expect(one.take("a")).toBe(-1);
  expect(one.take("a")).toBe(-1);
  expect(one.hasNone("a")).toBe(true);
  expect(one.take("b")).toBe(1);
  expect(one.hasNone("b")).toBe(false);
  expect(one.hasNone("unknown")).toBe(false);
  vi.advanceTimersByTime(1_000);
  expect(one.hasNone("a")).toBe(false);
  expect(one.take("a")).toBe(0);
  expect(one.take("a")).toBe(-1);
});

test("[B1] whole seconds until all of it may come again", () => {
  const one = limiter(100, 200);
  expect(one.resetSeconds("a")).toBe(0);
  one.take("a");
  expect(one.resetSeconds("a")).toBe(1);
  takes(one, "a", 250);
  expect(one.resetSeconds("a")).toBe(2);
  vi.advanceTimersByTime(1_000);
  expect(one.resetSeconds("a")).toBe(1);
  vi.advanceTimersByTime(1_000);
  expect(one.resetSeconds("a")).toBe(0);
});

test("[B1] a rate of 0 is none", () => {
  expect(createRateLimiter(0, 0)).toBeUndefined();
});

test("[B1] the memory is bounded: full buckets are dropped first, then the oldest", () => {
  const one = limiter(1, 2, 3);
  for (const key of ["a", "b", "c"]) takes(one, key, 2);
  vi.advanceTimersByTime(500);
  takes(one, "d", 1);
  // "a" was the oldest: it begins anew.
  expect(one.hasNone("b")).toBe(true);
  expect(one.hasNone("a")).toBe(false);
  expect(one.take("a")).toBe(1);
  vi.advanceTimersByTime(60_000);
  for (let i = 0; i < 10; i += 1) one.take(`e${i}`);
  expect(one.hasNone("e9")).toBe(false);
  expect(takes(one, "e9", 5)).toBe(1);
});
