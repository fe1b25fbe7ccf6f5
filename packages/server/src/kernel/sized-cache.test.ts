import { expect, test } from "vitest";
import { createSizedCache } from "./sized-cache.ts";

test("[O14] the cache has a maximum of bytes, keeps what was used last, and counts hits", () => {
  const cache = createSizedCache<number, { bytes: number }>(100, ({ bytes }) => bytes);
  for (let key = 0; key < 10; key++) cache.set(key, { bytes: 10 });
  expect(cache.get(0)).toBeDefined();
  cache.set(10, { bytes: 10 });
  expect(cache.get(1)).toBe(undefined);
  expect(cache.get(0)).toEqual({ bytes: 10 });
  expect(cache.bytes).toBe(100);
  expect(cache.size).toBe(10);
  expect(cache.hits).toBe(2);
  expect(cache.misses).toBe(1);
  cache.set(11, { bytes: 1_000 });
  expect(cache.get(11)).toBeUndefined();
});
