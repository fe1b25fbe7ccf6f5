import { limits, type Model } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { listOrder, readOrder } from "./list-order.ts";
import { type ListQuery, readListQuery, readQueryPage } from "./list-query.ts";

const model: Model = {
  fields: {
    title: { type: "string", index: "text" },
    count: { type: "integer" },
    kind: { type: "enum", values: ["b", "a"] },
    tags: { type: "array" },
    extra: { type: "json" },
    and: { type: "string" },
  },
};
const read = (query: object) => readListQuery({ ...query }, model, (name) => name);
const field = (name: string) => ({ kind: "field", name, type: model.fields[name]?.type });

test("[G26] conditions are read as a client means them", () => {
  expect(read({ where: { title: "a", count: { gte: 1, not: null }, $syncId: 3 }, search: "b" })).toEqual({
    filters: [
      { column: { kind: "syncId" }, operator: "eq", value: 3 },
      { column: field("count"), operator: "gte", value: 1 },
      { column: field("count"), operator: "null", value: false },
      { column: field("title"), operator: "eq", value: "a" },
      { columns: [{ kind: "field", name: "title", type: "string" }], operator: "search", words: ["b"] },
    ],
    order: { keys: [], idDescending: false },
  });
  expect(
    read({ where: { or: [{}, { title: null }, { tags: { in: [["a"], null] }, extra: { not: { b: 1 } } }] } }),
  ).toEqual({
    filters: [
      {
        operator: "or",
        conditions: [
          { operator: "and", conditions: [] },
          { column: field("title"), operator: "null", value: true },
          {
            operator: "and",
            conditions: [
              { column: field("extra"), operator: "jsonNotIn", values: ['{"b":1}'] },
              { column: field("tags"), operator: "jsonIn", values: ['["a"]', "null"] },
            ],
          },
        ],
      },
    ],
    order: { keys: [], idDescending: false },
  });
});

test("[G26] a field that is called like a word is meant rather than the word", () => {
  expect(read({ where: { and: "x" } })).toMatchObject({ filters: [{ column: field("and"), value: "x" }] });
  expect(read({ where: { and: [] } })).toMatchObject({ code: "invalid_value", param: "where.and" });
});

test("[G27] a query has one form, in whatever order its keys are written", () => {
  expect(read({ where: { title: { not: "b", in: ["a"] }, or: [{ count: 1, kind: "a" }] } })).toEqual(
    read({ where: { or: [{ kind: "a", count: 1 }], title: { in: ["a"], not: "b" } } }),
  );
});

const nested = (depth: number): object => (depth === 0 ? { title: "a" } : { or: [nested(depth - 1)] });
const conditions = (count: number) => ({ or: Array.from({ length: count }, (_, i) => ({ count: i })) });
const values = (count: number) => Array.from({ length: count }, (_, i) => i);

test.each<[what: string, fits: object, not: object, param: string]>([
  [
    "levels",
    { where: nested(limits.queryDepth) },
    { where: nested(limits.queryDepth + 1) },
    `where${".or[0]".repeat(limits.queryDepth)}.or`,
  ],
  ["conditions", { where: conditions(100) }, { where: conditions(101) }, "where"],
  ["empty conditions", { where: { or: Array(100).fill({}) } }, { where: { or: Array(101).fill({}) } }, "where"],
  [
    "empty groups",
    { where: { or: Array(100).fill({ or: [] }) } },
    { where: { or: Array(101).fill({ or: [] }) } },
    "where",
  ],
  [
    "values of a list",
    { where: { count: { in: values(100) } } },
    { where: { or: [{ count: { notIn: values(101) } }] } },
    "where.or[0].count.notIn",
  ],
  [
    "values in all",
    { where: { or: Array.from({ length: 10 }, () => ({ count: { in: values(100) } })) } },
    { where: { title: "a", or: Array.from({ length: 10 }, () => ({ count: { in: values(100) } })) } },
    "where",
  ],
  ["sort keys", { orderBy: Array(8).fill("title") }, { orderBy: Array(9).fill("title") }, "orderBy"],
  ["words", { search: values(20).join(" ") }, { search: values(21).join(" ") }, "search"],
])("[G29] the number of %s is limited", (_, fits, not, param) => {
  expect(read(fits)).not.toHaveProperty("code");
  expect(read(not)).toMatchObject({ code: "invalid_value", param });
});

test("[G30] later keys count where those before are equal, and nothing counts behind the id", () => {
  expect(
    read({ orderBy: ["kind", { field: "kind", by: "values", order: "desc" }, "id", "title"], order: "asc" }),
  ).toEqual({
    filters: [],
    order: {
      keys: [
        { column: field("kind"), descending: false },
        { column: { kind: "rank", name: "kind", values: ["b", "a"] }, descending: true },
      ],
      idDescending: false,
    },
  });
  expect(read({ orderBy: [], order: "desc" })).toMatchObject({ order: { keys: [], idDescending: true } });
  expect(read({ orderBy: [{ field: "title", order: "desc" }, "kind"] })).toMatchObject({
    order: { idDescending: true },
  });
  expect(listOrder([{ column: { kind: "id" }, descending: true }], false)).toEqual({ keys: [], idDescending: true });
});

test("[G30] order_by has several keys, each with a direction if it wants one", () => {
  expect(readOrder("kind:values:desc,title,count:asc", "desc", model)).toEqual(
    (
      read({
        orderBy: [{ field: "kind", by: "values" }, "title", { field: "count", order: "asc" }],
        order: "desc",
      }) as ListQuery
    ).order,
  );
  expect(readOrder("title", "asc", model)).toEqual({
    keys: [{ column: field("title"), descending: false }],
    idDescending: false,
  });
  for (const wrong of [
    ...["title,", ",title", "title, count", "title:down"],
    ...["title:desc:asc", "title:desc:values", ":desc", "tags"],
  ])
    expect(readOrder(wrong, "asc", model), wrong).toMatchObject({ code: "unknown_column", param: "order_by" });
  expect(readOrder(Array(9).fill("title").join(), "asc", model)).toMatchObject({
    code: "invalid_value",
    param: "order_by",
  });
});

test("[G32] what a client can ask and a server cannot is refused", () => {
  for (const [query, param] of [
    [{ where: { extra: { gt: 1 } } }, "where.extra.gt"],
    [{ where: { or: [{ extra: { search: "a" } }] } }, "where.or[0].extra.search"],
    [{ orderBy: "extra" }, "orderBy"],
  ] as const)
    expect(read(query)).toMatchObject({ code: "invalid_value", param });
  for (const key of ["locale", "from", "before", "include", "staleOk", "cursor", "__proto__", "toString"])
    expect(readQueryPage(JSON.parse(`{"${key}":1}`))).toMatchObject({ code: "unknown_field", param: key });
});

test("[G28] long keys and values are shortened in what is said of them", () => {
  const long = "x".repeat(10_000);
  const refused = read({ where: { [long]: long } });
  expect(refused).toMatchObject({ code: "unknown_field", param: `where.${long}`.slice(0, 200) });
  expect(JSON.stringify(refused).length).toBeLessThan(1_000);
  expect(JSON.stringify(read({ where: { count: long } })).length).toBeLessThan(1_000);
});

test("[G28] [M30] [M52] a query is judged under the names of its caller", () => {
  const older = (query: object) =>
    readListQuery({ ...query }, model, (name) => (name === "heading" ? "title" : name === "gone" ? null : name));
  expect(older({ where: { heading: "a" }, orderBy: "heading" })).toEqual(
    read({ where: { title: "a" }, orderBy: "title" }),
  );
  expect(older({ where: { heading: 3 } })).toMatchObject({ code: "invalid_value", param: "where.heading" });
  expect(older({ where: { gone: 3 } })).toMatchObject({ code: "unknown_field", param: "where.gone" });
});
