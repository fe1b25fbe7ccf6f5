import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { News } from "./news.ts";
import { createPace } from "./pace.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const news = (from: number, to: number): News => ({
  from,
  to,
  lines: Array.from({ length: to - from }, (_, i) => ({ syncId: from + i + 1 }) as News["lines"][number]),
});

function setUp(tellingMs: number) {
  let time = 0;
  const told: News[] = [];
  const tell = createPace(
    (one) => {
      told.push(one);
      time += tellingMs;
    },
    () => time,
  );
  return { tell, told };
}

test("[T9] what is told quickly is told at once, each by itself", () => {
  const { tell, told } = setUp(0.9);
  for (let n = 0; n < 5; n++) tell(news(n, n + 1));
  expect(told.map(({ from, to }) => [from, to])).toEqual([
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 4],
    [4, 5],
  ]);
});

test("[T9] after a telling that took 4 ms it rests 4 ms; what came meanwhile is one piece, in order and whole", () => {
  const { tell, told } = setUp(4);
  tell(news(0, 1));
  tell(news(1, 3));
  tell(news(3, 4));
  vi.advanceTimersByTime(3);
  expect(told).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(told).toHaveLength(2);
  expect(told[1]).toEqual(news(1, 4));
  // And it rests again.
  tell(news(4, 5));
  expect(told).toHaveLength(2);
  vi.advanceTimersByTime(4);
  expect(told[2]).toEqual(news(4, 5));
  vi.advanceTimersByTime(4);
  tell(news(5, 6));
  expect(told[3]).toEqual(news(5, 6));
});

test("[T9] nobody waits longer than 50 ms, however many are told", () => {
  const { tell, told } = setUp(700);
  tell(news(0, 1));
  tell(news(1, 2));
  vi.advanceTimersByTime(49);
  expect(told).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(told).toHaveLength(2);
});
