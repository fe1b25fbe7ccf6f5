import { expect, test } from "vitest";
import { type RowValue, readRowImage } from "./row-image.ts";

const read = (value: RowValue, form: "json" | "text" | "time") =>
  readRowImage({ id: "a", v: value }, { keyColumn: "id", columns: [{ field: "v", name: "v", form }] }).data.v;

test.each([
  ["2026-01-02T03:04:05+00:00", "2026-01-02T03:04:05.000Z"],
  ["2026-01-02T03:04:05.6+00:00", "2026-01-02T03:04:05.600Z"],
  ["2026-01-02T03:04:05.123456+00:00", "2026-01-02T03:04:05.123456Z"],
  ["infinity", "infinity"],
  ["0044-03-15T00:00:00+00:00 BC", "0044-03-15T00:00:00+00:00 BC"],
  [null, null],
])("[DS4] the point in time %s is %s in a record", (value, time) => {
  expect(read(value, "time")).toBe(time);
  // In a text column it is only a text.
  expect(read(value, "json")).toBe(value);
});

test("[DS4] numbers keep their digits as text, and NUL and halves of characters are replaced", () => {
  expect(read(() => "12345678901234567890.10", "text")).toBe("12345678901234567890.10");
  expect(read(() => "12345678901234567890.10", "json")).toBe(Number("12345678901234567890.10"));
  expect(read({ a: ["x\0", "\ud800"] }, "json")).toEqual({ a: ["x\ufffd", "\ufffd"] });
});
