import type { Field } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { column, table } from "../../../testing/catalog-table.ts";
import type { CatalogColumn, CatalogTable } from "./catalog-table.ts";
import { type CatalogIndex, compareModel, missingIndexes } from "./compare-model.ts";

const tableOf = (of: Partial<CatalogColumn>, more: Partial<CatalogTable> = {}): CatalogTable =>
  table("slides", [column("state", of)], more);

const modelOf = (field: Field, name = "state") => ({
  fields: { id: { type: "string" as const }, [name]: field },
  table: { name: "public.slides", key: "id" },
});

const said = (field: Field, column: Partial<CatalogColumn>, more: Partial<CatalogTable> = {}) => {
  const compared = compareModel(modelOf(field), tableOf(column, more));
  return "message" in compared ? compared.message : compared.columns;
};

const TEXT: Field = { type: "string", nullable: true };

test("[DS49] a model that fits its table gets the columns of its fields", () => {
  expect(said(TEXT, {})).toEqual([{ field: "state", name: "state", declared: "string" }]);
  expect(said({ ...TEXT, type: "number" }, { type: "int8" })).toMatchObject([{ declared: "number" }]);
  expect(said({ ...TEXT, type: "number" }, { type: "numeric" })).toMatchObject([{ declared: "number" }]);
  expect(said({ ...TEXT, type: "enum", values: ["a"] }, {})).toMatchObject([{ declared: "enum" }]);
  expect(said(TEXT, { labels: ["a"], type: "mood" })).toMatchObject([{ declared: "string" }]);
  expect(said({ type: "string", default: "x" }, { notNull: true })).toMatchObject([{ field: "state" }]);
  // A trigger may fill it.
  expect(said({ type: "string" }, { notNull: true })).toMatchObject([{ field: "state" }]);
});

test.for<[string, Field, Partial<CatalogColumn>, string]>([
  [
    "another type",
    TEXT,
    { type: "int4" },
    '"state" is of type string, but public.slides.state is int4: declare it as integer.',
  ],
  ["numbers of an array", { ...TEXT, type: "number" }, { type: "numeric", isArray: true }, "declare it as array"],
  ["an enum of numbers", { ...TEXT, type: "enum", values: ["1"] }, { type: "int2" }, "declare it as integer"],
  [
    "no column",
    TEXT,
    { name: "other" },
    'public.slides has no column state: name the column of "state" in "table.columns"',
  ],
  ["bytes", TEXT, { type: "bytea" }, 'Remove the field "state".'],
  [
    "more values",
    { ...TEXT, type: "enum", values: ["a"] },
    { type: "mood", labels: ["a", "b"] },
    'can be "b": add that',
  ],
  [
    "fewer values",
    { ...TEXT, type: "enum", values: ["a", "b"] },
    { type: "mood", labels: ["a"] },
    'cannot be "b": remove',
  ],
])(
  "[DS49] [DS117] a model and a catalog disagree about %s: the sentence says what to do",
  ([, field, column, sentence]) => {
    expect(said(field, column)).toContain(sentence);
  },
);

test("[DS49] [DS117] where null can be on one side only is said, and refuses nothing", () => {
  const notes = (field: Field, column: Partial<CatalogColumn>) => {
    const compared = compareModel(modelOf(field), tableOf(column));
    return "notes" in compared ? compared.notes : [];
  };
  expect(notes(TEXT, {})).toEqual([]);
  expect(notes({ type: "string" }, { notNull: true })).toEqual([]);
  expect(notes({ type: "string" }, {})).toEqual([expect.stringContaining("alter column state set not null")]);
  expect(notes(TEXT, { notNull: true })).toEqual([expect.stringContaining("alter column state drop not null")]);
});

test("[DS49] two fields of one column, a field of the key, and a table that can no longer be attached are refused", () => {
  const twice = {
    fields: { a: TEXT, b: TEXT },
    table: { name: "public.slides", key: "id", columns: { a: "state", b: "state" } },
  };
  expect(compareModel(twice, tableOf({}))).toMatchObject({
    part: "fields.b",
    message: expect.stringContaining("both name the column"),
  });
  const ofKey = { fields: { a: TEXT }, table: { name: "public.slides", key: "id", columns: { a: "id" } } };
  expect(compareModel(ofKey, tableOf({}))).toMatchObject({ message: expect.stringContaining("the record's id") });
  expect(said(TEXT, {}, { persistence: "unlogged" })).toContain("set logged");
});

test("[DS53] an index that the model declares and the table lacks is the statement that creates it", () => {
  const of = (column: Partial<CatalogColumn>, indexes: readonly CatalogIndex[]) =>
    missingIndexes(modelOf({ ...TEXT, index: true }), "public.slides", tableOf(column).columns, indexes).map(
      ({ statement }) => statement,
    );
  const text = 'create index on public.slides ((state collate "C"), id)';
  expect(of({}, [])).toEqual([text]);
  expect(of({}, [{ column: "state", isByCodePoint: false, isGin: false }])).toEqual([text]);
  expect(of({}, [{ column: "state", isByCodePoint: true, isGin: false }])).toEqual([]);
  expect(of({ type: "int4" }, [])).toEqual(["create index on public.slides (state, id)"]);
  expect(of({ type: "int4" }, [{ column: "state", isByCodePoint: false, isGin: false }])).toEqual([]);
  expect(of({ type: "int4" }, [{ column: "state", isByCodePoint: false, isGin: true }])).toHaveLength(1);
});

test("[DS53] [G37] [G46] an index for the items of an array is a GIN index, of columns whose items one finds", () => {
  const of = (column: Partial<CatalogColumn>, isGin?: boolean) =>
    missingIndexes(
      modelOf({ type: "array", index: true }),
      "public.slides",
      tableOf(column).columns,
      isGin === undefined ? [] : [{ column: "state", isByCodePoint: true, isGin }],
    ).map(({ statement }) => statement);
  const missing = ["create index on public.slides using gin (state)"];
  for (const column of [
    ...["text", "varchar", "uuid", "int2", "int4", "int8"].map((type) => ({ type, isArray: true })),
    { type: "jsonb" },
  ]) {
    expect(of(column)).toEqual(missing);
    expect(of(column, false)).toEqual(missing);
    expect(of(column, true)).toEqual([]);
  }
  for (const column of [
    ...["float8", "numeric", "citext", "jsonb", "timestamptz"].map((type) => ({ type, isArray: true })),
    { type: "json" },
  ])
    expect(of(column)).toEqual([]);
});
