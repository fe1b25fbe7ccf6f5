import type { Model } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { listColumn } from "./list-column.ts";
import { type ListOrder, readOrder } from "./list-order.ts";
import { slowListMessage } from "./slow-list.ts";

const model: Model = {
  fields: {
    title: { type: "string" },
    order: { type: "number", index: true },
    kind: { type: "enum", values: ["b", "a"] },
    toString: { type: "string" as const },
  },
};

test.each<[sort: string, filter: string | undefined, missing: string | undefined]>([
  ["title", undefined, "slide.title"],
  ["order", undefined, undefined],
  ["id", undefined, undefined],
  ["createdAt", undefined, undefined],
  ["kind:values", undefined, "slide.kind"],
  ["order", "title", "slide.title"],
  ["title", "title", "slide.title"],
  ["title", "toString", "slide.title and slide.toString"],
  ["order,kind:values:desc", "title", "slide.kind and slide.title"],
])("[H18] a slow list by %s with a filter by %s lacks the index of %s", (sort, filter, missing) => {
  const by = readOrder(sort, "asc", model);
  const column = filter === undefined ? undefined : listColumn(filter, model);
  const filters = column ? [{ column, operator: "eq" as const, value: "a" }] : [];
  const message = slowListMessage("slide", model, by as ListOrder, filters as never);
  if (missing === undefined) expect(message).toBeUndefined();
  else expect(message).toContain(`Lists by ${missing} have no index`);
});
