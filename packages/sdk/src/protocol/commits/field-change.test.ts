import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../json.ts";
import { changedValue, changedValues, type FieldChange, isOutOfRange, takesChange } from "./field-change.ts";

test.each<[Json | undefined, FieldChange, Json]>([
  [1, { increment: 2 }, 3],
  [undefined, { increment: -1 }, -1],
  [null, { increment: 1 }, 1],
  [0.5, { increment: 0.25 }, 0.75],
  [["a"], { add: ["b", "b", "a"] }, ["a", "b"]],
  [["a", "b", "a"], { remove: ["a"] }, ["b"]],
  [["a", "b"], { remove: ["a"], add: ["a"] }, ["b", "a"]],
  [undefined, { add: [1, true, "1"] }, [1, true, "1"]],
  [undefined, { add: ["a", "a"] }, ["a"]],
  [[{ a: 1 }, null, "a"], { remove: ["a"], add: [2] }, [{ a: 1 }, null, 2]],
  [["a"], {}, ["a"]],
])("[C19] [C28] %j changed by %j is %j", (before, change, after) => {
  expect(changedValue(before, change)).toEqual(after);
});

test.each<[Json | undefined, FieldChange]>([
  [undefined, { remove: ["a"] }],
  [null, { remove: ["a"] }],
  [undefined, {}],
  [null, { add: [] }],
  [["a"], { add: ["a"], remove: ["b"] }],
])("[C19] %j changed by %j is what it was", (before, change) => {
  expect(changedValue(before, change)).toBe(before);
});

test("[C19] [C28] a value that was never written starts with the field's default", () => {
  const model = {
    fields: { votes: { type: "integer", default: 5 }, tags: { type: "array", default: ["new"] } },
  } as const;
  const changes = { votes: { increment: 1 }, tags: { add: ["hot"] } };
  expect(changedValues({}, changes, model)).toEqual({ votes: 6, tags: ["new", "hot"] });
  expect(changedValues({ votes: null, tags: [] }, changes, model)).toEqual({ votes: 1, tags: ["hot"] });
});

test("[C19] which types have which change", () => {
  const types = ["string", "number", "integer", "boolean", "datetime", "enum", "array", "json"] as const;
  expect(types.filter((type) => takesChange({ type }, { increment: 1 }))).toEqual(["number", "integer"]);
  expect(types.filter((type) => takesChange({ type }, { add: ["a"] }))).toEqual(["array"]);
});

test("[C19] increments, and additions of different items, have the same result in any order", () => {
  const item = fc.constantFrom("a", "b", "c", "d", "e");
  fc.assert(
    fc.property(
      fc.array(fc.integer(), { maxLength: 8 }),
      fc.uniqueArray(item),
      fc.uniqueArray(item),
      (by, first, second) => {
        const sum = (order: readonly number[]) =>
          order.reduce<Json | undefined>((at, one) => changedValue(at, { increment: one }), 0);
        expect(sum(by)).toBe(sum([...by].reverse()));
        const both = (one: string[], two: string[]) =>
          new Set(changedValue(changedValue([], { add: one }), { add: two }) as Json[]);
        expect(both(first, second)).toEqual(both(second, first));
      },
    ),
  );
});

test("[C19] an integer goes up to 2^53 - 1, a double as far as doubles go", () => {
  const most = Number.MAX_SAFE_INTEGER;
  expect([most, -most, most + 1, -most - 1].map((value) => isOutOfRange({ type: "integer" }, value))).toEqual([
    ...[false, false, true, true],
  ]);
  const { MAX_VALUE, POSITIVE_INFINITY } = Number;
  expect([6.02e23, -MAX_VALUE, POSITIVE_INFINITY].map((value) => isOutOfRange({ type: "number" }, value))).toEqual([
    ...[false, false, true],
  ]);
});
