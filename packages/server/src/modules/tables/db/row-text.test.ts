import fc from "fast-check";
import { expect, test } from "vitest";
import { cutDeep } from "../../../kernel/connection/cut-deep.ts";
import { parseRow } from "./row-text.ts";

/** Numbers that keep their digits are functions. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, one) => (typeof one === "function" ? one() : one)));

const LONG = `${"x".repeat(990)} "quoted" [ { \\ \n ~0 é🎈 `;

test.each<[string, unknown]>([
  ["a long text", { id: "a", t: LONG }],
  ["several, in lists and members", { id: "a", t: [LONG, { n: LONG.repeat(3) }, LONG], s: "short" }],
  ["texts that begin like the mark", { id: "a", t: LONG, m: "~0", n: "~~1", o: `~${LONG}` }],
  ["a long name", { [LONG]: LONG, id: 1 }],
  ["a text that ends in backslashes", { t: `${LONG}\\\\`, u: '\\"', id: 1 }],
])("[DS4] %s is read as it was written", (_, row) => {
  expect(plain(parseRow(JSON.stringify(row)))).toEqual(row);
  expect(plain(parseRow(JSON.stringify(row, null, 1)))).toEqual(row);
  expect(plain(parseRow(JSON.stringify(row).replaceAll('":', '" \n:')))).toEqual(row);
});

test("[DS4] numbers beside a long text keep their digits, and NUL and halves of characters stay", () => {
  const { n, t, m } = parseRow(`{"n": 1.50, "t": "\\u0000${"y".repeat(2_000)}\\ud83d", "m": 12345678901234567890}`);
  expect([(n as () => string)(), (m as () => string)()]).toEqual(["1.50", "12345678901234567890"]);
  expect(t).toBe(`\0${"y".repeat(2_000)}\ud83d`);
});

test("[DS4] every number keeps its digits, whichever way a row is read", () => {
  const number = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(
      "-0",
      "0.0",
      "1.50",
      "1e3",
      "0.0000001",
      "9007199254740993",
      "123456789012345",
      "-0.5",
      "100",
      "0.10001",
    ),
    fc
      .tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.integer({ min: 0, max: 99_999_999 }))
      .map((two) => two.join(".")),
  );
  fc.assert(
    fc.property(fc.array(number.map(String), { minLength: 1 }), fc.string(), (numbers, text) => {
      const row = parseRow(`{"n":[${numbers.join(",")}],"t":${JSON.stringify(text)}}`);
      const digits = (row.n as unknown[]).map((one) => (typeof one === "function" ? one() : one));
      const kept = numbers.map((one) => (String(Number(one)) === one ? Number(one) : one));
      expect(digits).toEqual(kept);
      expect(row.t).toBe(text);
    }),
    { seed: 20_261_129, numRuns: 300 },
  );
});

test("[DS56] what is nested deeper than 500 levels is null, and the rest stays", () => {
  const nested = (levels: number, inner: string) => `${"[".repeat(levels)}${inner}${"]".repeat(levels)}`;
  const text = `{"a":${nested(3_000, `"]${"x".repeat(2_000)}[",1`)},"b":${nested(499, "7")},"c":"[[{"}`;
  const { a, b, c } = parseRow(text);
  expect([JSON.stringify(a), JSON.stringify(b), c]).toEqual([nested(499, "null"), nested(499, "7"), "[[{"]);
});

test("[DS56] brackets and quotes within texts are no levels", () => {
  const row = { a: "[".repeat(2_000), b: `\\"${"{".repeat(2_000)}`, c: [[1]] };
  expect(JSON.parse(cutDeep(JSON.stringify(row)))).toEqual(row);
});
