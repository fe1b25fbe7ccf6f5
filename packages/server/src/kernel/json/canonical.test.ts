import fc from "fast-check";
import { expect, test } from "vitest";
import { canonical } from "./canonical.ts";

test("[I8] canonical JSON means the same as the value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonical(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { seed: 20_260_131 },
  );
});

test("[I8] the order of keys, at any depth, does not count", () => {
  const reversed = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(reversed);
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, item]) => [key, reversed(item)]),
    );
  };
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonical(reversed(value))).toBe(canonical(value));
    }),
    { seed: 20_260_131 },
  );
});

test.each([
  ["a key that holds undefined is absent", { a: undefined, b: 1 }, '{"b":1}'],
  ["of keys, code units decide", { b: 1, a: 2, B: 3, "": 4 }, '{"":4,"B":3,"a":2,"b":1}'],
  ["an empty object", {}, "{}"],
  ["lists keep their order", [2, 1], "[2,1]"],
  ["text that differs in case only", { a: "A" }, '{"a":"A"}'],
])("[I8] %s", (_, value, text) => {
  expect(canonical(value)).toBe(text);
});

test("[I8] different values give different texts", () => {
  const values = [{ a: 1 }, { a: "1" }, { a: [1] }, { a: null }, {}, [], [[]], "{}", null, "null", { a: { b: 1 } }];
  expect(new Set(values.map((value) => canonical(value))).size).toBe(values.length);
});
