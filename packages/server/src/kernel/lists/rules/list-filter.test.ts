import { limits, type Model } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { type Parameter, readFilters } from "./list-filter.ts";
import { readSearch } from "./search.ts";

const model: Model = {
  fields: {
    title: { type: "string" },
    order: { type: "number" },
    count: { type: "integer" },
    done: { type: "boolean" },
    at: { type: "datetime" },
    kind: { type: "enum", values: ["a", "b"] },
    tags: { type: "array" },
    extra: { type: "json" },
    limit: { type: "number" },
    filter: { type: "string" },
    updatedAt: { type: "string" },
    ["toString" as string]: { type: "string" },
  },
};

const read = (...parameters: Parameter[]) => readFilters(parameters, model);
const field = (name: string) => ({ kind: "field", name, type: model.fields[name]?.type });

test.each<[Parameter, object]>([
  [["filter[title]", "x"], { column: field("title"), operator: "eq", value: "x" }],
  [["title", "x"], { column: field("title"), operator: "eq", value: "x" }],
  [["title", ""], { column: field("title"), operator: "eq", value: "" }],
  [["title", "null"], { column: field("title"), operator: "eq", value: "null" }],
  [["title", "%'\"\\;--"], { column: field("title"), operator: "eq", value: "%'\"\\;--" }],
  [["filter[title][gt]", "𝕳"], { column: field("title"), operator: "gt", value: "𝕳" }],
  [["filter[order]", "-1.5e3"], { column: field("order"), operator: "eq", value: -1_500 }],
  [["filter[order]", "1.0"], { column: field("order"), operator: "eq", value: 1 }],
  [["filter[order][gte]", "0.1"], { column: field("order"), operator: "gte", value: 0.1 }],
  [["filter[order][lt]", "9007199254740991"], { column: field("order"), operator: "lt", value: 2 ** 53 - 1 }],
  [["filter[order][lt]", "1e-400"], { column: field("order"), operator: "lt", value: 0 }],
  [["filter[count][lte]", "1e2"], { column: field("count"), operator: "lte", value: 100 }],
  [["filter[count]", "3.0"], { column: field("count"), operator: "eq", value: 3 }],
  [["done", "true"], { column: field("done"), operator: "eq", value: true }],
  [["filter[done][gt]", "false"], { column: field("done"), operator: "gt", value: false }],
  [["at", "2024-01-01T00:00:00+23:59"], { column: field("at"), operator: "eq", value: "2024-01-01T00:00:00+23:59" }],
  [["kind", "a"], { column: field("kind"), operator: "eq", value: "a" }],
  [["kind", "of another time"], { column: field("kind"), operator: "eq", value: "of another time" }],
  [["filter[title][null]", "true"], { column: field("title"), operator: "null", value: true }],
  [["filter[at][null]", "false"], { column: field("at"), operator: "null", value: false }],
  [["filter[limit]", "3"], { column: field("limit"), operator: "eq", value: 3 }],
  [["filter", "x"], { column: field("filter"), operator: "eq", value: "x" }],
  [["filter[filter]", "x"], { column: field("filter"), operator: "eq", value: "x" }],
  [["filter[toString]", "x"], { column: field("toString"), operator: "eq", value: "x" }],
  [["id", "a/b"], { column: { kind: "id" }, operator: "eq", value: "a/b" }],
  [["filter[id][lt]", "b"], { column: { kind: "id" }, operator: "lt", value: "b" }],
  [
    ["filter[createdAt][gte]", "2024-01-01T00:00:00Z"],
    { column: { kind: "createdAt" }, operator: "gte", value: "2024-01-01T00:00:00Z" },
  ],
  [["filter[title][not]", "x"], { column: field("title"), operator: "not", value: "x" }],
  [["filter[order][not]", "3"], { column: field("order"), operator: "not", value: 3 }],
  [["filter[title][in]", '["x",null]'], { column: field("title"), operator: "in", values: ["x", null] }],
  [["filter[order][lt]", "6.02e23"], { column: field("order"), operator: "lt", value: 6.02e23 }],
  [["filter[order][in]", "[1,2.5]"], { column: field("order"), operator: "in", values: [1, 2.5] }],
  [["filter[done][notIn]", "[true]"], { column: field("done"), operator: "notIn", values: [true] }],
  [["filter[title][in]", "[]"], { column: field("title"), operator: "in", values: [] }],
  [
    ["filter[title][contains]", "%_"],
    { column: field("title"), operator: "contains", value: "%_", json: ['"%_"', '"%_"'] },
  ],
  ...[
    ["x", '"x"'],
    ['{ "a": 1 }', '{"a":1}'],
    ['"3"', '"3"'],
    ["null", "null"],
    // What no record can have is only a text.
    ['"\\u0000"', JSON.stringify('"\\u0000"')],
    ['"\\ud800"', JSON.stringify('"\\ud800"')],
    ["1e400", '"1e400"'],
    ["9007199254740993", '"9007199254740993"'],
  ].map(([value = "", json]): [Parameter, object] => [
    ["filter[tags][contains]", value],
    { column: field("tags"), operator: "contains", value, json: [JSON.stringify(value), json] },
  ]),
  [["filter[kind][startsWith]", "a"], { column: field("kind"), operator: "startsWith", value: "a" }],
  [["filter[id][startsWith]", "a"], { column: { kind: "id" }, operator: "startsWith", value: "a" }],
  ...[
    ["Größe  ΟΔΟΣ", ["größe", "οδοσ"]],
    ["a A a", ["a"]],
    [" ", []],
    ["%_", ["%_"]],
  ].map(([text, words]): [Parameter, object] => [
    ["filter[title][search]", text as string],
    { columns: [field("title")], operator: "search", words },
  ]),
  [["filter[id][search]", "A"], { columns: [{ kind: "id" }], operator: "search", words: ["a"] }],
  [["filter[kind][search]", "A"], { columns: [field("kind")], operator: "search", words: ["a"] }],
  // A declared field wins over a time of that name.
  [["updatedAt", "soon"], { column: field("updatedAt"), operator: "eq", value: "soon" }],
])("[G8] the filter %j", (parameter, filter) => {
  expect(read(parameter)).toEqual([filter]);
});

test.each<[Parameter, string]>([
  ...[
    ...["nothing", "Title", "ID", "", "filter[]", "filter[nothing]", "filter[title", "filter[title]x"],
    ...["filter[ title]"],
  ].map((name): [Parameter, string] => [[name, "x"], "unknown_column"]),
  ...["filter[title][eq]", "filter[title][like]", "filter[title][GT]", "filter[title][]", "filter[title][gt][lt]"].map(
    (name): [Parameter, string] => [[name, "x"], "unknown_column"],
  ),
  ...["Filter[title]", "filter[title][null][]", "filter[[title]]", "filter['title']", "filter[title;drop table x]"].map(
    (name): [Parameter, string] => [[name, "x"], "unknown_column"],
  ),
  ...["__proto__", "constructor", "hasOwnProperty", "filter[__proto__]", "filter[constructor][null]"].map(
    (name): [Parameter, string] => [[name, "true"], "unknown_column"],
  ),
  ...[
    ...["tags", "filter[extra]", "filter[tags][null]", "tenant", "data", "filter[sync_id]", "created_at"],
    ...["archivedAt"],
  ].map((name): [Parameter, string] => [[name, "true"], "unknown_column"]),
  ...["", " 1", "1 ", "+1", "01", ".5", "1.", "1e", "0x1", "1_000", "NaN", "Infinity", "null", '"1"', "١", "abc"].map(
    (text): [Parameter, string] => [["filter[order]", text], "invalid_type"],
  ),
  ...["x", "1,2", '["1"]', "[true]", '{"a":1}', "[[1]]", `[${"1,".repeat(100)}1]`].map((text): [Parameter, string] => [
    ["filter[order][in]", text],
    "invalid_type",
  ]),
  ...["[1]", "[true]", '["\\u0000"]', '["\\ud800"]', "[{}]"].map((text): [Parameter, string] => [
    ["filter[title][notIn]", text],
    "invalid_type",
  ]),
  [["filter[at][in]", '["soon"]'], "invalid_type"],
  [["filter[order][in]", "[9007199254740993]"], "invalid_value"],
  [["filter[order][contains]", "1"], "invalid_type"],
  [["filter[done][startsWith]", "t"], "invalid_type"],
  [["filter[at][contains]", "2"], "invalid_type"],
  [["filter[tags][startsWith]", "a"], "unknown_column"],
  [["filter[tags][search]", "a"], "unknown_column"],
  [["filter[order][search]", "1"], "invalid_type"],
  [["filter[title][search]", Array.from({ length: 21 }, (_, i) => `w${i}`).join(" ")], "invalid_value"],
  [["filter[extra][contains]", "a"], "unknown_column"],
  ...["1e400", "-1e400", "9007199254740993"].map((text): [Parameter, string] => [
    ["filter[order][lt]", text],
    "invalid_value",
  ]),
  ...["1.5", "x", "", "1e-1"].map((text): [Parameter, string] => [["filter[count]", text], "invalid_type"]),
  [["filter[count]", "9007199254740992"], "invalid_value"],
  [["filter[count]", "1e300"], "invalid_value"],
  ...["1", "0", "TRUE", "yes", "", "null", " true"].flatMap((text): [Parameter, string][] => [
    [["done", text], "invalid_type"],
    [["filter[title][null]", text], "invalid_type"],
  ]),
  ...["2024-01-01", "2024-02-30T00:00:00Z", "2024-01-01T00:00:00 02:00", "now", "", "1704067200"].flatMap(
    (text): [Parameter, string][] => [
      [["filter[at][gt]", text], "invalid_type"],
      [["createdAt", text], "invalid_type"],
    ],
  ),
])("[G9] %j is refused: %s", ([name, value], code) => {
  expect(read([name, value])).toMatchObject({ code, param: name });
});

test("[G9] the same filter twice is refused, however it is spelled; two of one field are not", () => {
  expect(read(["title", "a"], ["filter[title]", "a"])).toMatchObject({ code: "invalid_value", param: "filter[title]" });
  expect(read(["filter[order][gt]", "1"], ["filter[order][gt]", "2"])).toMatchObject({ code: "invalid_value" });
  expect(read(["filter[order][gt]", "1"], ["filter[order][lte]", "2"], ["order", "2"])).toHaveLength(3);
});

test("[G9] the number of filters is limited, and long names are shortened in the message", () => {
  const many = Array.from({ length: limits.listFilters + 1 }, (_, i): Parameter => [`f${i}`, ""]);
  expect(read(...many)).toMatchObject({ code: "invalid_value", param: "filter" });
  expect(read(...many.slice(1))).toMatchObject({ code: "unknown_column", param: "f1" });
  expect(read(["x".repeat(10_000), ""])).toMatchObject({ code: "unknown_column", param: "x".repeat(100) });
});

test("[G4] filters have one order, whatever their order in the URL", () => {
  const all: Parameter[] = [
    ["title", "a"],
    ["filter[order][lt]", "3"],
    ["filter[order][gt]", "1"],
  ];
  expect(read(...all)).toEqual(read(...all.toReversed()));
});

test("[G20] a search looks in the fields that are indexed for it, with up to 20 different words", () => {
  const text = { type: "string", index: "text" } as const;
  const searched: Model = { fields: { title: text, order: { type: "number", index: true }, body: text } };
  const column = (name: string) => ({ kind: "field", name, type: "string" });
  expect(readSearch("Logo print", searched)).toEqual({
    operator: "search",
    columns: [column("title"), column("body")],
    words: ["logo", "print"],
  });
  expect(
    readSearch(`${"same ".repeat(30)}${Array.from({ length: 19 }, (_, i) => `w${i}`).join(" ")}`, searched),
  ).toMatchObject({
    operator: "search",
  });
  expect(readSearch(Array.from({ length: 21 }, (_, i) => `w${i}`).join(" "), searched)).toMatchObject({
    code: "invalid_value",
    param: "search",
  });
  expect(readSearch("a", model)).toMatchObject({ code: "invalid_value", param: "search" });
});
