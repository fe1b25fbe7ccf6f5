import type { Model } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { listColumn, sortColumn } from "./list-column.ts";

const model: Model = {
  fields: {
    title: { type: "string" },
    order: { type: "number" },
    at: { type: "datetime" },
    kind: { type: "enum", values: ["a"] },
    list: { type: "array" },
    blob: { type: "json" },
    updatedAt: { type: "string" },
  },
};

test.each([
  ["id", { kind: "id" }],
  ["createdAt", { kind: "createdAt" }],
  ["updatedAt", { kind: "field", name: "updatedAt", type: "string" }],
  ["title", { kind: "field", name: "title", type: "string" }],
  ["at", { kind: "field", name: "at", type: "datetime" }],
  ["kind", { kind: "field", name: "kind", type: "enum" }],
])("[G3] a list is sorted by %s", (name, column) => {
  expect(listColumn(name, model)).toEqual(column);
});

test.each([
  ...["", "ID", "Title", "list", "blob", "toString", "__proto__", "constructor", "id desc", '"id"', "title;--"],
  ...["created_at"],
])("[G3] and not by %j", (name) => {
  expect(listColumn(name, model)).toBeUndefined();
});

test("[G22] a list is sorted by an enum in the order of its values, and only by an enum", () => {
  expect(sortColumn("kind:values", model)).toEqual({ kind: "rank", name: "kind", values: ["a"] });
  expect(sortColumn("kind", model)).toEqual({ kind: "field", name: "kind", type: "enum" });
  for (const other of [
    ...["title:values", "id:values", ":values", "kind:"],
    ...["kind:order", "toString:values", "__proto__:values"],
  ])
    expect(sortColumn(other, model), other).toBeUndefined();
});
