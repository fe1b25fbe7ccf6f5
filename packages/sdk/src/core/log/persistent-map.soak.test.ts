import { expect, test } from "vitest";
import { PersistentMap } from "./persistent-map.ts";

test("a change of a map with ten thousand entries copies a small part of it", () => {
  const map = PersistentMap.empty<number>().edit((draft) => {
    for (let i = 0; i < 10_000; i++) draft.set(`slide-${i}`, i);
  });
  const start = performance.now();
  let next = map;
  for (let i = 0; i < 1_000; i++) next = next.set(`slide-${i}`, -i);
  // A map that copied itself would take seconds.
  expect(performance.now() - start).toBeLessThan(500);
  expect(next.get("slide-7")).toBe(-7);
});
