import fc from "fast-check";
import type { Field } from "../../packages/sdk/src/protocol/schema/model-schema.ts";

/** Few enough that equal ones meet, and one that a schema no longer has is among the values of records. */
export const enumValues = ["todo", "Doing", "\u{1f600}", "\uff21", "ä"];

/** Around the places where UTF-16 units, code points and languages differ. */
const character = fc.constantFrom(
  ...["a", "A", "b", "z", "é", "e\u0301", "0", "9", " ", "_", "\u0001", "\ud7ff", "\ue000"],
  ...["\uff21", "\uffff", "\u{10000}", "\u{1f600}", "\u{1f601}", "\u{10ffff}"],
);
const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: character, maxLength: 4 }) },
  { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }).filter((value) => !value.includes("\0")) },
  // Around the 500 characters that lists are sorted by.
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom("x", "\u{1f600}"),
        fc.integer({ min: 498, max: 502 }),
        fc.string({ unit: character, maxLength: 2 }),
      )
      .map(([one, count, end]) => one.repeat(count) + end),
  },
);

const double = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(-0, 0.1, 0.30000000000000004, 0.1 + 0.7, 5e-324, 1.7976931348623157e308, -1e-7, 1e21, 2 ** 53 - 1),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Number.isInteger(value)),
);
const integer = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
  fc.maxSafeInteger(),
);

const two = (most: number) => fc.integer({ min: 0, max: most }).map((value) => String(value).padStart(2, "0"));
const fraction = fc.oneof(
  fc.constantFrom(
    ...["", ".0", ".1", ".000001", ".0000005", ".0000015", ".0000025", ".1234565", ".1234575"],
    ...[".123456499", ".123456501", ".9999994", ".9999995", ".9999999", ".999999999", ".000000001"],
  ),
  fc.stringMatching(/^\.[0-9]{1,9}$/),
);
const offset = fc.oneof(
  fc.constantFrom("Z", "+00:00", "-00:00", "+01:00", "-01:00", "+23:59", "-23:59", "+15:59", "+16:00"),
  fc.tuple(fc.constantFrom("+", "-"), two(23), two(59)).map(([sign, hour, minute]) => `${sign}${hour}:${minute}`),
);
const dateTime = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom("2029-12-31T23", "2030-01-01T00", "2030-01-01T01") },
      fc.constantFrom(
        "0001-01-01T00",
        "1684-06-06T12",
        "1969-12-31T23",
        "2000-02-29T23",
        "2255-06-06T12",
        "9999-12-31T23",
      ),
      fc
        .tuple(
          fc.integer({ min: 1, max: 9999 }),
          fc.integer({ min: 1, max: 12 }),
          fc.integer({ min: 1, max: 28 }),
          two(23),
        )
        .map(
          ([year, month, day, hour]) =>
            `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}T${hour}`,
        ),
    ),
    fc.constantFrom("00:00", "00:00", "59:59", "30:15"),
    fraction,
    offset,
  )
  .map((parts) => `${parts[0]}:${parts[1]}${parts[2]}${parts[3]}`);

/** By type of field: its values. */
export const valuesByType = {
  string: text,
  number: double,
  integer,
  boolean: fc.boolean(),
  datetime: dateTime,
  enum: fc.constantFrom(...enumValues),
} satisfies Readonly<Record<string, fc.Arbitrary<string | number | boolean>>>;

export type ComparedType = keyof typeof valuesByType;
export const comparedTypes = Object.keys(valuesByType) as ComparedType[];
/** Each type has the field of its name. */
export const fieldsByType = Object.fromEntries(
  comparedTypes.map((type): [string, Field] => [
    type,
    { type, nullable: true, ...(type === "enum" && { values: enumValues }) },
  ]),
);

/** What a record can have in such a field: a value, none, or one from before the field had its type. */
export const storedValue = (type: ComparedType) =>
  fc.oneof(
    { weight: 12, arbitrary: valuesByType[type] as fc.Arbitrary<string | number | boolean> },
    fc.constant(null),
    fc.constantFrom(3, true, "text", "2030-02-30T00:00:00Z", "2030-01-01", "gone", ["a"], { a: 1 }),
  );
