import type { Field, Json, JsonObject, Model } from "@holdfast/sdk/protocol";
import { fits } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { checkPayload, writesNothing } from "./check-payload.ts";

const field = (type: Field["type"], rest: Partial<Field> = {}): Field => ({ type, ...rest });
const model: Model = {
  fields: {
    name: field("string", { required: true }),
    tier: field("string", { required: true, default: "free" }),
    size: field("number"),
    note: field("string", { nullable: true }),
  },
};
const full = { name: "n" };

test.each<[Field, Json[], Json[]]>([
  [field("string"), ["", "x", "5"], [5, true, null, [], {}]],
  [field("number"), [0, -0.5, 5e-324], ["5", "", true, null, []]],
  [field("integer"), [0, -3, 2 ** 53 - 1], [0.5, "1", true]],
  [field("boolean"), [true, false], ["true", 0, 1, null]],
  [field("datetime"), ["2024-01-01T00:00:00Z"], ["2024-01-01", 0, ""]],
  [field("enum", { values: ["a", "b"] }), ["a", "b"], ["c", "A", "", 1]],
  [field("array"), [[], [1, "x", null]], [{}, "[]", null]],
  [field("json"), [0, "x", [], {}, false], [null]],
  [field("json", { nullable: true }), [null], []],
  [field("number", { nullable: true }), [null, 1], ["1"]],
])("[C7] a field %j takes %j and not %j", (declared, good, bad) => {
  for (const value of good) expect([value, fits(declared, value)]).toEqual([value, true]);
  for (const value of bad) expect([value, fits(declared, value)]).toEqual([value, false]);
});

test.each<[string, "create" | "update" | "delete", JsonObject | undefined, string, string]>([
  ["no data", "create", undefined, "missing_field", "data"],
  ["no data", "update", undefined, "missing_field", "data"],
  ["data where there is none", "delete", {}, "unknown_field", "data"],
  ["a required field left out", "create", { size: 1 }, "missing_field", "data.name"],
  ["a required field that is null", "create", { name: null }, "invalid_type", "data.name"],
  ["an undeclared field", "update", { colour: "red" }, "unknown_field", "data.colour"],
  ["a field of every object", "update", { toString: "x" }, "unknown_field", "data.toString"],
  ["a name in another case", "update", { Name: "x" }, "unknown_field", "data.Name"],
  ["a number as text", "update", { size: "5" }, "invalid_type", "data.size"],
  ["another id", "update", { id: "other" }, "id_mismatch", "data.id"],
  ["an id that is no text", "update", { id: null }, "id_mismatch", "data.id"],
])("[C7] %s (%s) is refused, and its place is named", (_, action, data, code, param) => {
  expect(checkPayload(model, action, "r1", data)).toMatchObject({ code, param });
});

test.each<[string, "create" | "update" | "archive", JsonObject | undefined]>([
  ["all that is required, a default aside", "create", full],
  ["its own id again", "create", { ...full, id: "r1" }],
  ["null where the schema says so", "create", { ...full, note: null }],
  ["an empty required text", "create", { name: "" }],
  ["an update of one field", "update", { size: 1 }],
  ["no data on an archive", "archive", undefined],
])("[C7] %s (%s) is taken", (_, action, data) => {
  expect(checkPayload(model, action, "r1", data)).toBeUndefined();
});

test("[C6] an update of nothing but the id writes nothing", () => {
  expect([undefined, {}, { id: "r1" }, { id: "r1", name: "x" }].map((data) => writesNothing({ data }))).toEqual([
    ...[true, true, true, false],
  ]);
  expect(writesNothing({ changes: { size: { increment: 1 } } })).toBe(false);
});
