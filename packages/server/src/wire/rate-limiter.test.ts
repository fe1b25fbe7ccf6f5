import { expect, test } from "vitest";
import { createRateLimiter, type RateLimiter } from "./rate-limiter.ts";

function limiter(perSecond: number, burst: number, mostKeys?: number) {
  const clock = { now: 1_000 };
  return { clock, limiter: createRateLimiter(perSecond, burst, () => clock.now, mostKeys) as RateLimiter };
}
const takes = (one: RateLimiter, key: string, times: number) =>
  Array.from({ length: times }, () => one.take(key)).filter((left) => left >= 0).length;

test("[B1] 200 at once, then 100 a second", () => {
  const { clock, limiter: one } = limiter(100, 200);
  expect(takes(one, "a", 250)).toBe(200);
  clock.now += 1_000;
  expect(takes(one, "a", 250)).toBe(100);
  clock.now += 10_000;
  expect(takes(one, "a", 250)).toBe(200);
});

test("[B1] what was refused costs nothing, and others are not touched", () => {
  const { clock, limiter: one } = limiter(1, 2);
  expect([one.take("a"), one.take("a"), one.take("a"), one.take("a")]).toEqual([1, 0, -1, -1]);
  expect(one.hasNone("a")).toBe(true);
  expect([one.take("b"), one.hasNone("b"), one.hasNone("nobody")]).toEqual([1, false, false]);
  clock.now += 1_000;
  expect([one.hasNone("a"), one.take("a"), one.take("a")]).toEqual([false, 0, -1]);
  expect(one.resetSeconds(0)).toBe(2);
});

test("[B1] a rate of 0 is none", () => {
  expect(createRateLimiter(0, 0, () => 0)).toBeUndefined();
});

test("[B1] the memory is bounded: full buckets are dropped first, then the oldest", () => {
  const { clock, limiter: one } = limiter(1, 2, 3);
  for (const key of ["a", "b", "c"]) takes(one, key, 2);
  clock.now += 500;
  takes(one, "d", 1);
  // "a" was the oldest: it begins anew.
  expect([one.hasNone("b"), one.hasNone("a"), one.take("a")]).toEqual([true, false, 1]);
  clock.now += 60_000;
  for (let i = 0; i < 10; i += 1) one.take(`e${i}`);
  expect([one.hasNone("e9"), takes(one, "e9", 5)]).toEqual([false, 1]);
});
