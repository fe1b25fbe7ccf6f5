import { expect, test } from "vitest";
import { createSizedCache } from "./sized-cache.ts";

test("[O14] what is remembered has so many bytes at most, what was used last stays, and hits are counted", () => {
  const cache = createSizedCache<number, { bytes: number }>(100, ({ bytes }) => bytes);
  for (let key = 0; key < 10; key++) cache.set(key, { bytes: 10 });
  expect(cache.get(0)).toBeDefined();
  cache.set(10, { bytes: 10 });
  expect([cache.get(1), cache.get(0)]).toEqual([undefined, { bytes: 10 }]);
  expect([cache.bytes, cache.size, cache.hits, cache.misses]).toEqual([100, 10, 2, 1]);
  cache.set(11, { bytes: 1_000 });
  expect(cache.get(11)).toBeUndefined();
});
