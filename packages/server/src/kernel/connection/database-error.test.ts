import { expect, test } from "vitest";
import { failureCode } from "./database-error.ts";

const coded = (code: string) => Object.assign(new Error("some text"), { code });

test.each([
  ["40001", "overloaded"],
  ["40P01", "overloaded"],
  ["55P03", "overloaded"],
  ["57014", "overloaded"],
  ["53300", "overloaded"],
  ["53100", "storage_full"],
  ["57P01", "unavailable"],
  ["57P03", "unavailable"],
  ["08006", "unavailable"],
  ["25P02", "unavailable"],
  ["XX000", "unavailable"],
  ["ECONNREFUSED", "unavailable"],
  ["ECONNRESET", "unavailable"],
  ["ENOENT", "unavailable"],
  ["EPIPE", "unavailable"],
])("[C14] a database's %s is %s to a caller", (code, answer) => {
  expect(failureCode(coded(code))).toBe(answer);
});

test.each(["23505", "22P02", "42P01", "22021"])("[C14] %s is a bug of ours, and not hidden", (code) => {
  expect(failureCode(coded(code))).toBeUndefined();
});

test.each([
  ["42P01", 'relation "holdfast.head" does not exist'],
  ["3F000", 'schema "holdfast" does not exist'],
  ["42883", "function holdfast.number_of(text) does not exist"],
])("[DS22] a database whose owner has dropped our tables (%s) is away", (code, message) => {
  expect(failureCode(Object.assign(new Error(message), { code }))).toBe("unavailable");
});

test("[C14] the driver's own words for a lost connection", () => {
  for (const text of [
    "Connection terminated unexpectedly",
    "Client has encountered a connection error and is not queryable",
  ])
    expect(failureCode(new Error(text))).toBe("unavailable");
  expect(failureCode(new Error("timeout exceeded when trying to connect"))).toBe("overloaded");
  expect(failureCode(new TypeError("x is not a function"))).toBeUndefined();
  expect(failureCode(undefined)).toBeUndefined();
});
