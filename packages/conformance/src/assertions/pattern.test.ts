import { expect, test } from "vitest";
import {
  absent,
  aList,
  anything,
  atLeast,
  exactly,
  listOf,
  mismatch,
  oneOf,
  orNull,
  type Pattern,
  position,
  sameSet,
  someText,
  time,
} from "./pattern.ts";

test.each<[unknown, Pattern]>([
  [1, 1],
  ["a", "a"],
  [null, null],
  ["req_1", /^req_/],
  [{ a: 1, b: 2 }, { a: 1 }],
  [
    [1, "a"],
    [1, someText],
  ],
  [{ a: 1 }, { b: absent }],
  [{ a: null }, { a: orNull(time) }],
  ["2024-01-01T00:00:00.000Z", time],
  [[1, 2], listOf(position)],
  [["b", "a"], sameSet("a", "b")],
  [{ b: 1, a: [2] }, exactly({ a: [2], b: 1 })],
  [5, oneOf("a", atLeast(5))],
  [{}, anything],
])("%j fits", (value, pattern) => {
  expect(mismatch(value, pattern)).toBeUndefined();
});

test.each<[unknown, Pattern, string]>([
  [1, 2, ""],
  ["1", 1, ""],
  [{ a: { b: [1] } }, { a: { b: [2] } }, "a.b[0]"],
  [{ a: 1 }, { b: 1 }, "b"],
  [{ a: 1 }, { a: absent }, "a"],
  [{}, { constructor: anything }, "constructor"],
  [[1], [1, 2], ""],
  [null, {}, ""],
  [[], {}, ""],
  [{}, aList, ""],
  ["2024-01-01", time, ""],
  ["", someText, ""],
  [-1, position, ""],
  [1.5, position, ""],
  ["5", atLeast(5), ""],
  [["a", "a"], sameSet("a", "b"), ""],
  [{ a: 1, b: 2 }, exactly({ a: 1 }), ""],
  [undefined, anything, ""],
])("%j does not fit, and the place is named", (value, pattern, path) => {
  expect(mismatch(value, pattern)).toMatchObject({ path });
});
