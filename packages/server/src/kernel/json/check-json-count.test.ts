import { limits } from "@holdfast/sdk/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkJsonCount } from "./check-json-count.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
/** Long enough to be counted at all. */
const padded = (text: string) => bytes(text.padEnd(2 * limits.jsonValues + 1));
const codeOf = (text: string) => checkJsonCount(padded(text))?.code;
/** With the array itself. */
const items = (count: number, item: string) => `[${Array.from({ length: count - 1 }, () => item).join(",")}]`;

test.each([
  ["empty arrays", "[]"],
  ["empty objects", "{ }"],
  ["numbers", "1"],
  ["texts", '"a,[{\\\\"'],
  ["literals", "null"],
])("[H12] 100 000 values pass, one more does not: %s", (_, item) => {
  expect(codeOf(items(100_000, item))).toBeUndefined();
  expect(codeOf(items(100_001, item))).toBe("too_many_values");
});

test("[H12] the value of each key counts, and what is within it", () => {
  const pairs = (count: number) => `[${Array.from({ length: count }, () => '{"a":[1]}').join(",")}]`;
  expect(codeOf(pairs(33_333))).toBeUndefined();
  expect(codeOf(pairs(33_334))).toBe("too_many_values");
});

test("[H12] [H9] so do levels, before anything is made of them", () => {
  expect(codeOf("[".repeat(64) + "]".repeat(64))).toBeUndefined();
  expect(codeOf("[".repeat(65) + "]".repeat(65))).toBe("invalid_value");
});

test("[H12] [H9] and the keys of an object, but not the items of an array", () => {
  const keys = (count: number) => `{${Array.from({ length: count }, (_, i) => `"${i}":[1,2]`).join(",")}}`;
  expect(codeOf(`[${keys(1_000)},${keys(1_000)}]`)).toBeUndefined();
  expect(codeOf(`[1,${keys(1_001)}]`)).toBe("invalid_value");
});

test.each(['\\"', "\\\\", 'x\\"', "\\u0022", '\\\\\\"'])(
  "[H12] a long text of %s ends where the parser ends it",
  (escaped) => {
    for (let length = 240; length < 280; length += 1) {
      const text = `"${"y".repeat(length)}${escaped.repeat(200)}"`;
      expect(JSON.parse(text)).toBeTypeOf("string");
      expect(codeOf(`[${text},${items(99_998, "1").slice(1)}`)).toBeUndefined();
      expect(codeOf(`[${text},${items(100_000, "1").slice(1)}`)).toBe("too_many_values");
    }
  },
);

/** As the parser would count. */
const valuesIn = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce((sum: number, item) => sum + valuesIn(item), 1)
    : 1;

test("[H12] for any JSON text the count equals the number of values that the parser makes", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const rest = 100_000 - valuesIn(value);
      const filled = (count: number) => `[${text}${",0".repeat(count)}]`;
      expect(codeOf(filled(rest - 1))).toBeUndefined();
      expect(codeOf(filled(rest))).toBe("too_many_values");
    }),
    { seed: 20_260_131, numRuns: 40 },
  );
});
