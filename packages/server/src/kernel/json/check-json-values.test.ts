import fc from "fast-check";
import { expect, test } from "vitest";
import { checkJsonValues } from "./check-json-values.ts";

/** `levels` arrays within each other. */
function nested(levels: number): unknown {
  let value: unknown = [];
  for (let i = 1; i < levels; i++) value = [value];
  return value;
}
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));

test.each<[string, unknown]>([
  ["ordinary values", { a: [1, "x", true, null, { b: -0.5 }] }],
  ["the largest whole numbers", [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]],
  ["fractions, the smallest and the largest", [5e-324, 0.1, -1e-7]],
  ["doubles beyond 2^53", [2 ** 53, 6.02e23, -1e300]],
  ["zero with a sign", -0],
  ["control characters but NUL", "\u0001\u001f\u007f\u0080"],
  ["whole surrogate pairs", "\u{1f600}\u{10ffff}"],
  ["a byte order mark, a zero width space, right-to-left marks", "\ufeff\u200b\u202e\u2066"],
  ["64 levels", nested(64)],
  ["1 000 keys", keys(1_000)],
  [
    "the names of every object's members",
    JSON.parse('{"constructor":{"prototype":{"toString":1}},"hasOwnProperty":2}'),
  ],
  ["a million items", new Array(1_000_000).fill(0)],
])("[L4] %s can be kept", (_, value) => {
  expect(checkJsonValues(value)).toBeUndefined();
});

test.each<[string, unknown, string]>([
  ["NUL in text", { a: ["x\u0000"] }, "a[0]"],
  ["NUL in a key", { a: { "\u0000": 1 } }, "a"],
  ["a high surrogate alone", { a: "\ud800" }, "a"],
  ["a low surrogate alone", { a: "x\udc00y" }, "a"],
  ["surrogates in the wrong order", { a: "\udc00\ud800" }, "a"],
  ["half a pair in a key", { a: { "\ud83d": 1 } }, "a"],
  ["infinity, as 1e400 is parsed", { a: [0, Number.POSITIVE_INFINITY] }, "a[1]"],
  ["1 001 keys", { a: keys(1_001) }, "a"],
  ["the key __proto__", JSON.parse('{"a":{"__proto__":{}}}'), "a.__proto__"],
  ["the key __proto__ at the top", JSON.parse('{"__proto__":1}'), "__proto__"],
])("[H9] %s is refused and its place is named", (_, value, param) => {
  expect(checkJsonValues(value)).toMatchObject({ code: "invalid_value", param });
});

test("[H9] a number that was rounded is refused, others of its size are not", () => {
  const rounded = () => new Set([2 ** 53]);
  expect(checkJsonValues({ a: { b: 2 ** 53 } }, undefined, rounded)).toMatchObject({
    code: "invalid_value",
    param: "a.b",
  });
  expect(checkJsonValues({ a: [2 ** 54, 1e300] }, undefined, rounded)).toBeUndefined();
});

test("[H9] the body itself has no name", () => {
  expect(checkJsonValues(keys(1_001))).not.toHaveProperty("param");
});

test("[H9] 65 levels are refused", () => {
  expect(checkJsonValues(nested(65))).toMatchObject({ code: "invalid_value" });
});

test("[H9] a million levels cost no stack, and the place is cut short", () => {
  const refusal = checkJsonValues(JSON.parse("[".repeat(1_000_000) + "]".repeat(1_000_000)));
  expect(refusal).toMatchObject({ code: "invalid_value" });
  expect(refusal?.param?.length).toBeLessThanOrEqual(201);
});

test("[L4] every JSON value is kept, except for these", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: "grapheme" }), (value) => {
      const text = JSON.stringify(value);
      const hopeless = /\\u0000/.test(text) || /\d{16}|e\+/.test(text);
      if (!hopeless) expect(checkJsonValues(value)).toBeUndefined();
    }),
    { seed: 20_260_131 },
  );
});
