import { expect, test } from "vitest";
import type { JsonObject } from "../../protocol/json.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";
import { compileOrder, type SortOptions } from "./sort-order.ts";

const model: Model = {
  fields: {
    status: { type: "string" },
    order: { type: "number", nullable: true },
    title: { type: "string" },
    kind: { type: "enum", values: ["a"] },
  },
};
const rows: readonly JsonObject[] = [
  { id: "1", status: "open", order: 2, title: "item 10" },
  { id: "2", status: "done", order: 1, title: "Item 9" },
  { id: "3", status: "open", order: null, title: "ärger" },
  { id: "4", status: "open", order: 3, title: "zebra" },
  { id: "5", status: "done", order: 1, title: "apfel" },
];
const ids = (options: SortOptions) => {
  const { sorted, comparedWith } = compileOrder("task", model, options);
  const found = sorted(rows).map(({ id }) => id);
  expect(
    [...rows]
      .reverse()
      .sort((a, b) => comparedWith(b)(a))
      .map(({ id }) => id),
  ).toEqual(found);
  return found.join("");
};

test("[R25] a list sorts by several fields, each in its own direction; what has no value is last in each", () => {
  expect(ids({ orderBy: ["status", "order"] })).toBe("25143");
  expect(ids({ orderBy: ["status", { field: "order", order: "desc" }] })).toBe("25413");
  expect(ids({ orderBy: ["status", "order"], order: "desc" })).toBe("41352");
  expect(ids({ orderBy: [{ field: "status", order: "asc" }, "order"], order: "desc" })).toBe("25413");
  expect(ids({ orderBy: [] })).toBe("12345");
  expect(ids({ orderBy: ["status", { field: "id", order: "desc" }] })).toBe("52431");
});

test("[R61] texts sort by code points, and by their first 500; ties follow the direction of the first field", () => {
  const { sorted } = compileOrder("task", model, { orderBy: "title", order: "desc" });
  const long = "x".repeat(500);
  const titles = ["\u{1f600}", "\uff21", `${long}b`, `${long}a`, "\u{1f600}\uff21"];
  const found = sorted(titles.map((title, i) => ({ id: `${i}`, title })));
  expect(found.map(({ id }) => id).join("")).toBe("40132");
});

test("[R25] with a locale texts sort as in that language, and digits by their number", () => {
  expect(ids({ orderBy: "title" })).toBe("25143");
  expect(ids({ orderBy: "title", locale: "de" })).toBe("53214");
  expect(ids({ orderBy: "title", locale: "sv" })).toBe("52143");
  expect(ids({ orderBy: ["status", "title"], locale: "de" })).toBe("52314");
});

test("[R45] an enum sorts in the order of its values; one that it has no longer is last", () => {
  const { sorted } = compileOrder(
    "task",
    { fields: { status: { type: "enum", values: ["todo", "doing", "done"] } } },
    { orderBy: [{ field: "status", by: "values" }] },
  );
  const inOrder = (...all: (string | null)[]) => sorted(all.map((status, i) => ({ id: `${i}`, status })));
  expect(inOrder("done", "gone", "todo", null, "doing", "todo").map(({ status }) => status)).toEqual([
    ...["todo", "todo", "doing", "done"],
    ...["gone", null],
  ]);
});

test.each<[object, string]>([
  [{ orderBy: [{ field: "status", by: "values" }] }, "orderBy[0].by"],
  [{ orderBy: [{ field: "kind", by: "length" }] }, "orderBy[0].by"],
  [{ orderBy: ["status", "titel"] }, "orderBy[1]"],
  [{ orderBy: ["status", { field: "order", order: "down" }] }, "orderBy[1].order"],
  [{ orderBy: [{ by: "order" }] }, "orderBy[0]"],
  [{ orderBy: [null] }, "orderBy[0]"],
  [{ orderBy: 3 }, "orderBy"],
  [{ orderBy: { field: "order" } }, "orderBy"],
  [{ locale: "not a language" }, "locale"],
])("[R18] %j is refused at %s", (options, param) => {
  expect(() => compileOrder("task", model, options as SortOptions)).toThrow(
    expect.objectContaining({ name: "SyncError", param }),
  );
});
