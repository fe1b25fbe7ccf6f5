import fc from "fast-check";

/** Text with characters that are special in SQL, JSON, HTTP, JavaScript or human scripts. */
const TEXTS = [
  "",
  " ",
  "null",
  "undefined",
  "true",
  "NaN",
  "0",
  "-1",
  "1e5",
  "\0",
  "a\0b",
  "\ud800",
  "a\udfffb",
  "\u{1F469}\u200D\u{1F680}",
  "e\u0301",
  "\u202Egnirts",
  "\uFEFFx",
  "\u2028",
  "İıßſ",
  "中文字",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "..",
  ".",
  "../../etc/passwd",
  "a/b",
  "a%2Fb",
  "%",
  "%00",
  "%ff",
  "{{7*7}}",
  "$1",
  "';drop table holdfast.log;--",
  "\\",
  "\\u0000",
  '"',
  "'",
  "<script>",
  "\r\nx-injected: 1",
  "*",
  "*.*",
  "org:x",
  "deck:",
  "deck:d0 ",
  "9007199254740993",
  "1970-01-01T00:00:00Z",
  "+275760-09-14T00:00:00Z",
  "infinity",
] as const;

export const nastyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom(256, 300, 513, 5_000, 70_000).map((length) => "x".repeat(length)) },
);

export const nastyNumber: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(-1, -0, 0.5, 1e21, 1e308, 5e-324, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 2 ** 63, -(2 ** 63)),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
);

/** Any JSON value that has no business where it is put. */
export const nastyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: nastyText },
  { weight: 3, arbitrary: nastyNumber },
  { weight: 3, arbitrary: fc.constantFrom<unknown[]>(null, true, false, [], {}, [null], [[]], { a: null }) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(63, 64, 65, 200, 1_000).map(nested) },
  { weight: 1, arbitrary: fc.constantFrom(999, 1_001).map(withKeys) },
);

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

function withKeys(count: number): unknown {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
}
