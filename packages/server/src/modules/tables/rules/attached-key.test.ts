import { expect, test } from "vitest";
import { isKeyOf } from "./attached-key.ts";

test.each([
  ["uuid", "6f1c7a52-3c1e-4b60-9a39-0d5f1c2b7e11", true],
  ["uuid", "6F1C7A52-3C1E-4B60-9A39-0D5F1C2B7E11", false],
  ["uuid", "6f1c7a523c1e4b609a390d5f1c2b7e11", false],
  ["smallint", "32767", true],
  ["smallint", "32768", false],
  ["integer", "-2147483648", true],
  ["integer", "2147483648", false],
  ["bigint", "9223372036854775807", true],
  ["bigint", "9223372036854775808", false],
  ["integer", "007", false],
  ["integer", "-0", false],
  ["integer", "1.0", false],
  ["text", "007", true],
  ["character varying(3)", "abc", true],
  ["character varying(3)", "abcd", false],
  ["character varying(3)", "😀😀😀", true],
])("[DS17] a key of the type %s can be %s: %s", (type, id, can) => {
  expect(isKeyOf(type, id)).toBe(can);
});
