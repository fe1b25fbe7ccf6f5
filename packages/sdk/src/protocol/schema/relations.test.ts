import { expect, expectTypeOf, test } from "vitest";
import { type RelationsOf, relationName, relationsOf } from "./relations.ts";
import { defineSchema } from "./row-types.ts";

test.each([
  ["projectId", "project"],
  ["project_id", "project"],
  ["labelIds", "labels"],
  ["label_ids", "labels"],
  ["labels", "labels"],
  ["paid", "paid"],
  ["Id", "Id"],
  ["_id", "_id"],
  ["android", "android"],
])("[R31] the relation of the field %s is %s", (field, name) => {
  expect(relationName(field, {})).toBe(name);
});

test("[R31] where another field has the short name, the relation has the field's own", () => {
  expect(relationName("projectId", { project: { type: "string" } })).toBe("projectId");
  expect(relationName("labels", { labels: { type: "array" } })).toBe("labels");
});

const schema = defineSchema({
  models: {
    Task: {
      fields: {
        title: { type: "string" },
        parent_id: { type: "string", references: "Task", inverse: "parts" },
        labels: { type: "array", references: "Label" },
        ownerId: { type: "string", references: "Person" },
        owner: { type: "string" },
      },
    },
    Label: { fields: {} },
    Person: { fields: {} },
  },
});

test("[R31] model names count in any case, and a model can reference itself", () => {
  const lower = {
    ...schema.models,
    Note: { fields: { t: { type: "string", references: "task", inverse: "notes" } } },
  } as const;
  expect(Object.fromEntries(relationsOf(lower, "task"))).toEqual({
    parent: { model: "Task", field: "parent_id", kind: "one" },
    parts: { model: "Task", field: "parent_id", kind: "inverse" },
    labels: { model: "Label", field: "labels", kind: "many" },
    ownerId: { model: "Person", field: "ownerId", kind: "one" },
    notes: { model: "Note", field: "t", kind: "inverse" },
  });
  expect(relationsOf(lower, "label").size).toBe(0);
});

test("[R31] the types name the same relations", () => {
  expectTypeOf<keyof RelationsOf<typeof schema, "Task">>().toEqualTypeOf<"parent" | "parts" | "labels" | "ownerId">();
  expectTypeOf<keyof RelationsOf<typeof schema, "Label">>().toEqualTypeOf<never>();
});
