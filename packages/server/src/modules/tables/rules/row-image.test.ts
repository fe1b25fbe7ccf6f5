import type { FieldType } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { type RowValue, readRowImage } from "./row-image.ts";

const imageOf = (value: RowValue, declared: FieldType, type = "text") =>
  readRowImage({ id: "a", v: value }, { keyColumn: "id", columns: [{ field: "v", name: "v", declared, type }] });
const read = (value: RowValue, declared: FieldType, type?: string) => imageOf(value, declared, type).data.v;

test.each([
  ["2026-01-02T03:04:05+00:00", "2026-01-02T03:04:05.000Z"],
  ["2026-01-02T03:04:05.6+00:00", "2026-01-02T03:04:05.600Z"],
  ["2026-01-02T03:04:05.123456+00:00", "2026-01-02T03:04:05.123456Z"],
  ["infinity", null],
  ["0044-03-15T00:00:00+00:00 BC", null],
  ["12026-01-01T00:00:00+00:00", null],
  [null, null],
])("[DS4] [DS85] the point in time %s is %s in a record", (value, time) => {
  expect(read(value, "datetime")).toBe(time);
  // In a text column it is only a text.
  expect(read(value, "string")).toBe(value);
});

test.each(["NaN", "Infinity", "-Infinity"])("[DS85] %s is null as a number, and a text as a string", (value) => {
  expect(read(value, "number", "double precision")).toBe(null);
  expect(read(value, "number", "numeric")).toBe(null);
  expect(read(value, "string", "numeric")).toBe(value);
});

test("[DS4] numbers keep their digits as text, and NUL and halves of characters are replaced", () => {
  expect(read(() => "12345678901234567890.10", "string", "numeric")).toBe("12345678901234567890.10");
  expect(read(() => "12345678901234567890.10", "number", "numeric")).toBe(Number("12345678901234567890.10"));
  expect(read({ a: ["x\0", "\ud800"] }, "json")).toEqual({ a: ["x\ufffd", "\ufffd"] });
});

test.for<[RowValue, FieldType, boolean]>([
  ["a", "string", true],
  [1, "string", false],
  [1, "integer", true],
  ["1", "integer", false],
  ["NaN", "number", true],
  [() => "12345678901234567890", "integer", true],
  [true, "boolean", true],
  ["t", "boolean", false],
  ["infinity", "datetime", true],
  [[1, null], "array", true],
  ["{1}", "array", false],
  [null, "array", true],
  [{ a: 1 }, "json", true],
  [{ a: 1 }, "string", false],
])("[DS50] the value %j that was captured fits a %s field: %s", ([value, declared, fits]) => {
  expect(imageOf(value, declared).mistyped).toEqual(fits ? [] : ["v"]);
});
