import { SchemaPush } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { shapeCheck } from "./shape-check.ts";

const check = shapeCheck(SchemaPush);
const pushed = (field: object) => check({ models: { task: { fields: { title: field } } } });

test("[M2] a value that is none of those that are allowed is refused with a message that lists them", () => {
  expect(pushed({ type: "text" })).toMatchObject({
    code: "invalid_value",
    param: "models.task.fields.title.type",
    message:
      '"models.task.fields.title.type" must be one of "string", "number", "integer", "boolean", "datetime", "enum", "array", "json".',
  });
  expect(pushed({ type: "string", references: "list", onDelete: "remove" })).toMatchObject({
    message: '"models.task.fields.title.onDelete" must be one of "cascade", "setNull", "restrict", "nothing".',
  });
});

test("[M2] a value that can have several shapes is refused without a list", () => {
  expect(pushed({ type: "string", unique: 1 })?.message).toBe(
    '"models.task.fields.title.unique" has a value that is not allowed.',
  );
});
