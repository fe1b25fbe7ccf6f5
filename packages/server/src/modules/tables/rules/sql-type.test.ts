import type { FieldType } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { formOf, takesColumn } from "./sql-type.ts";

test.for<[FieldType, string, boolean]>([
  ["string", "text", true],
  ["string", "character varying(20)", true],
  ["string", "numeric(10,2)", true],
  ["string", "timestamp(3) without time zone", true],
  ["string", "enum", true],
  ["string", "public.point3d", true],
  ["string", "integer", false],
  ["string", "jsonb", false],
  ["string", "text[]", false],
  ["string", "timestamp with time zone", false],
  ["enum", "enum", true],
  ["enum", "text", true],
  ["enum", "boolean", false],
  ["integer", "bigint", true],
  ["integer", "double precision", false],
  ["integer", "numeric", false],
  ["number", "real", true],
  ["number", "integer", true],
  ["number", "numeric(8,2)", true],
  ["number", "text", false],
  ["boolean", "boolean", true],
  ["boolean", "text", false],
  ["datetime", "timestamp(3) with time zone", true],
  ["datetime", "timestamp without time zone", false],
  ["json", "jsonb", true],
  ["json", "hstore", true],
  ["json", "integer", false],
  ["array", "integer[]", true],
  ["array", "numeric(10,2)[]", true],
  ["array", "integer", false],
  ["array", "jsonb", true],
  ["string", "", false],
])("[DS50] a %s field takes a column of the type %s: %s", ([declared, type, takes]) => {
  expect(takesColumn(declared, type)).toBe(takes);
});

test("[DS4] [DS50] a value comes into its field as text with all digits, as a number, as a point in time, or as it is", () => {
  expect(formOf("string", "numeric(10,2)")).toBe("text");
  expect(formOf("array", "numeric(10,2)[]")).toBe("text");
  expect(formOf("number", "numeric")).toBe("number");
  expect(formOf("number", "integer")).toBe("json");
  expect(formOf("datetime", "timestamp(3) with time zone")).toBe("time");
  expect(formOf("array", "timestamp with time zone[]")).toBe("json");
  expect(formOf("string", "text")).toBe("json");
});
