import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { News } from "./news.ts";
import { createPace } from "./pace.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const news = (from: number, to: number): News => ({
  from,
  to,
  models: new Map(),
  schemaVersion: 1,
  rowsVersion: 1,
  entries: Array.from({ length: to - from }, (_, i) => ({ syncId: from + i + 1 }) as News["entries"][number]),
});

function setUp(publishingMs: number) {
  let time = 0;
  const published: News[] = [];
  const publish = createPace(
    (one) => {
      published.push(one);
      time += publishingMs;
    },
    () => time,
  );
  return { publish, published };
}

test("[T9] entries that are published quickly are sent at once, each by itself", () => {
  const { publish, published } = setUp(0.9);
  for (let n = 0; n < 5; n++) publish(news(n, n + 1));
  expect(published.map(({ from, to }) => [from, to])).toEqual([
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 4],
    [4, 5],
  ]);
});

test("[T9] after a telling that took 4 ms it rests 4 ms; what came meanwhile is one piece, in order and whole", () => {
  const { publish, published } = setUp(4);
  publish(news(0, 1));
  publish(news(1, 3));
  publish(news(3, 4));
  vi.advanceTimersByTime(3);
  expect(published).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(published).toHaveLength(2);
  expect(published[1]).toEqual(news(1, 4));
  // And it rests again.
  publish(news(4, 5));
  expect(published).toHaveLength(2);
  vi.advanceTimersByTime(4);
  expect(published[2]).toEqual(news(4, 5));
  vi.advanceTimersByTime(4);
  publish(news(5, 6));
  expect(published[3]).toEqual(news(5, 6));
});

test("[T9] no listener waits longer than 50 ms, however many there are", () => {
  const { publish, published } = setUp(700);
  publish(news(0, 1));
  publish(news(1, 2));
  vi.advanceTimersByTime(49);
  expect(published).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(published).toHaveLength(2);
});
