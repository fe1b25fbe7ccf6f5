import fc from "fast-check";
import { expect, test } from "vitest";
import { PersistentMap } from "./persistent-map.ts";

test("a changed map says what a Map says, and the one before it stays as it was", () => {
  const change = fc.tuple(fc.constantFrom("set", "delete"), fc.string({ maxLength: 3 }), fc.integer());
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 8 }), { maxLength: 20 }), (rounds) => {
      let map = PersistentMap.empty<number>();
      const model = new Map<string, number>();
      for (const round of rounds) {
        const before = { map, entries: [...map.entries()].sort() };
        map = map.edit((draft) => {
          for (const [action, key, value] of round) {
            if (action === "set") draft.set(key, value);
            else draft.delete(key);
            expect(draft.get(key)).toBe(action === "set" ? value : undefined);
          }
        });
        for (const [action, key, value] of round) {
          if (action === "set") model.set(key, value);
          else model.delete(key);
        }
        expect([...before.map.entries()].sort()).toEqual(before.entries);
      }
      expect(map.size).toBe(model.size);
      expect([...map.entries()].sort()).toEqual([...model.entries()].sort());
    }),
  );
});

test("an edit that changes nothing gives the same map back", () => {
  const map = PersistentMap.empty<number>().set("a", 1);
  expect(map.edit((draft) => draft.delete("b"))).toBe(map);
});
