import fc from "fast-check";
import { expect, test } from "vitest";
import { roundedNumbers } from "./rounded-numbers.ts";

test.each<[string, number[]]>([
  ['{"a":9007199254740993}', [9007199254740992]],
  ["[-9007199254740993,1]", [-9007199254740992]],
  ["[123456789012345678901234567890]", [1.2345678901234568e29]],
  // Powers of two are doubles, and so is what JavaScript writes for them.
  ["[9007199254740992,1152921504606846976,1152921504606847000,100000000000000000000]", []],
  ["[6.02e23,1e300,-1E+20,9007199254740993.0,9007199254740993e0,0.12345678901234567890]", []],
  ['{"9007199254740993":"9007199254740993","b":"\\"9007199254740993"}', []],
  [`[${"9".repeat(400)}]`, []],
])("[L4] of %s, these are rounded: %j", (text, rounded) => {
  expect([...roundedNumbers(text)]).toEqual(rounded);
});

test("[L4] no double is rounded that JavaScript has written", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(roundedNumbers(JSON.stringify({ value, text: `${value}` })).size).toBe(0);
    }),
    { numRuns: 2_000 },
  );
});
