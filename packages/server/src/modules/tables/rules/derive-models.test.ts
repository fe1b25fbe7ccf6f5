import { brokenPattern, type Field } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { column, table } from "../../../testing/catalog-table.ts";
import type { CatalogColumn, CatalogTable } from "./catalog-table.ts";
import { type DerivedTable, deriveModels } from "./derive-models.ts";

type Attachable = Extract<DerivedTable, { model: unknown }>;

function derived(tables: readonly CatalogTable[], modelNames: ReadonlyMap<string, string> = new Map()): Attachable[] {
  return deriveModels(tables, { modelNames }).map((one) => {
    if ("problem" in one) throw new Error(one.problem);
    return one;
  });
}

/** What one column becomes. */
function ofColumn(more: Partial<CatalogColumn>, checks: CatalogTable["checks"] = []) {
  const [one] = derived([table("things", [column("x", more)], { checks })]);
  return { field: one?.model.fields.x, column: one?.columns[0], notes: one?.notes };
}

const problemOf = (one: CatalogTable): string | undefined => {
  const [found] = deriveModels([one]);
  return found && "problem" in found ? found.problem : undefined;
};

test("[DS177] a column called id that is not the key is a field with the model's name", () => {
  const columns = [column("uid", { type: "uuid" }), column("id", { type: "int4" })];
  const [one] = derived([table("comments", [], { columns, primaryKey: ["uid"] })]);
  expect(Object.keys(one?.model.fields ?? {})).toEqual(["commentId"]);
  expect(one?.model.table).toEqual({ name: "public.comments", key: "uid", columns: { commentId: "id" } });
  expect(one?.notes).toEqual(['id: its field is "commentId", because a record\'s id is the key (uid).']);
});

test.each([
  ...["text", "varchar", "bpchar", "char", "citext", "uuid"].map((type) => [type, "string"]),
  ...["timestamp", "date", "time", "timetz", "interval", "numeric"].map((type) => [type, "string"]),
  ...["int2", "int4", "int8"].map((type) => [type, "integer"]),
  ...["float4", "float8"].map((type) => [type, "number"]),
  ...["json", "jsonb"].map((type) => [type, "json"]),
  ...[
    ["bool", "boolean"],
    ["timestamptz", "datetime"],
    ["inet", "string"],
    ["constructor", "string"],
  ],
] as [string, Field["type"]][])("[DS9] a column of type %s becomes a field of type %s", (type, expected) => {
  expect(ofColumn({ type }).field).toMatchObject({ type: expected, nullable: true });
});

const range = (bits: number) => ({ min: -(2 ** bits), max: 2 ** bits - 1 });
test.each<[string, Partial<CatalogColumn>, Partial<Field> | undefined]>([
  ["text", {}, {}],
  ["varchar(5)", { type: "varchar", length: 5 }, { maxLength: 5 }],
  ["char(5)", { type: "bpchar", length: 5 }, { maxLength: 5 }],
  ["varchar(5)[]", { type: "varchar", length: 5, isArray: true }, { items: "string" }],
  ["int2", { type: "int2" }, range(15)],
  ["int4", { type: "int4" }, range(31)],
  ["int8", { type: "int8" }, {}],
  ["int4[]", { type: "int4", isArray: true }, { items: "integer" }],
  ["float8[]", { type: "float8", isArray: true }, { items: "number" }],
  ["bool[]", { type: "bool", isArray: true }, { items: "boolean" }],
  ["timestamptz[]", { type: "timestamptz", isArray: true }, { items: "string" }],
  ["numeric[]", { type: "numeric", isArray: true }, { items: "string" }],
  ["jsonb[]", { type: "jsonb", isArray: true }, {}],
  ["a composite type[]", { type: "point3", isArray: true, isObject: true }, {}],
  ["a generated column", { generated: "stored" }, { writableBy: [] }],
  ["an identity column", { type: "int8", identity: "always" }, { writableBy: [] }],
  ["an identity by default", { type: "int8", identity: "by default" }, {}],
])("[DS95] [DS134] of %s, the field has the rules that the table keeps in any case", (_, more, expected) => {
  const { type: __, nullable: ___, ...rules } = ofColumn(more).field ?? {};
  expect(rules).toEqual(expected);
});

test.each([
  ["uuid", "0B1C2d3e-0000-4000-8000-00000000000f", true],
  ["uuid", "0b1c2d3e", false],
  ["uuid", "", false],
  ["numeric", "12.50", true],
  ["numeric", "-.5e10", true],
  ["numeric", "NaN", true],
  ["numeric", "1,5", false],
  ["numeric", "twelve", false],
])("[DS95] [DS134] a field of %s takes %j: %s", (type, text, takes) => {
  const { field } = ofColumn({ type });
  expect(field && brokenPattern(field, text)).toEqual(takes ? undefined : expect.objectContaining({ rule: "pattern" }));
});

test("[DS9] an array of any type becomes an array, and a composite type or one with a cast to json becomes json", () => {
  expect(ofColumn({ type: "int4", isArray: true }).field?.type).toBe("array");
  expect(ofColumn({ type: "mood", isArray: true, labels: ["a"] }).field).toEqual({
    type: "array",
    items: "string",
    nullable: true,
  });
  expect(ofColumn({ type: "hstore", isObject: true }).field?.type).toBe("json");
});

test.each([
  ["int8", false, "x is int8: values beyond ±9007199254740991 are not exact."],
  ["int8", true, "x is int8[]: values beyond ±9007199254740991 are not exact."],
  [
    "numeric",
    false,
    "x is numeric: its field is a string with all its digits. For a number, convert it with Number() in the app, or change the column to double precision.",
  ],
  [
    "numeric",
    true,
    "x is numeric[]: its items are strings with all their digits. For numbers, convert them with Number() in the app, or change the column to double precision[].",
  ],
  ["inet", false, "x is inet: its field is a string, as Postgres writes it."],
  ["inet", true, "x is inet[]: its items are strings, as Postgres writes them."],
])("[DS9] a note says what is special about %s (array: %s)", (type, isArray, note) => {
  expect(ofColumn({ type, isArray }).notes).toEqual([note]);
});

test.each(["text", "uuid", "int4", "bool", "timestamptz", "date", "jsonb", "float8"])(
  "[DS9] %s has no note",
  (type) => {
    expect(ofColumn({ type }).notes).toEqual([]);
  },
);

test("[DS9] an enum and a composite type have no note", () => {
  expect(ofColumn({ type: "mood", labels: ["good"] }).notes).toEqual([]);
  expect(ofColumn({ type: "point", isObject: true }).notes).toEqual([]);
});

test("[DS9] bytea and virtual generated columns are left out, with a note", () => {
  const [one] = derived([
    table("things", [
      column("Ö", { type: "bytea" }),
      column("pages", { type: "bytea", isArray: true }),
      column("twice", { generated: "virtual" }),
      column("kept"),
    ]),
  ]);
  expect(Object.keys(one?.model.fields ?? {})).toEqual(["kept"]);
  expect(one?.columns).toEqual([{ field: "kept", name: "kept", declared: "string" }]);
  expect(one?.notes).toEqual([
    "Ö is bytea and left out: keep files in a file store, and their addresses in a text column.",
    "pages is bytea and left out: keep files in a file store, and their addresses in a text column.",
    "twice is a virtual generated column and left out, because triggers do not see its value: make it a stored one.",
  ]);
});

test.each([
  ["not null", { notNull: true }, { required: true }],
  ["null", {}, { nullable: true }],
  ["not null with a default", { notNull: true, default: "now()" }, {}],
  ["not null and identity", { notNull: true, identity: "by default" as const }, {}],
  ["not null and generated", { notNull: true, generated: "stored" as const }, { writableBy: [] }],
  ["null with a default", { default: "now()" }, { nullable: true }],
])("[DS9] required and nullable: %s", (_, more, expected) => {
  expect(ofColumn(more).field).toEqual({ type: "string", ...expected });
});

test("[DS9] a Postgres enum becomes an enum with its labels, and one without labels a string", () => {
  expect(ofColumn({ type: "mood", labels: ["good", "bad"] }).field).toEqual({
    ...{ type: "enum", values: ["good", "bad"], nullable: true },
  });
  expect(ofColumn({ type: "mood", labels: [] }).field).toEqual({ type: "string", nullable: true });
});

test.each([
  ["text", "CHECK ((x = ANY (ARRAY['a'::text, 'b'::text])))", ["a", "b"]],
  [
    "varchar",
    "CHECK (((x)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[])))",
    ["a", "b"],
  ],
  ["varchar", "CHECK (((x)::text = ANY (ARRAY[('a'::character varying)::text])))", undefined],
  ["bpchar", "CHECK ((x = ANY (ARRAY['a'::bpchar, 'b'::bpchar])))", ["a", "b"]],
  ["bpchar", "CHECK ((x = ANY (ARRAY['a'::bpchar, 'bc'::bpchar])))", undefined],
  ["text", `CHECK (("X y" = ANY (ARRAY['it''s, '::text, ''::text, ''::text])))`, ["it's, ", ""]],
  ["text", "CHECK ((x = 'only'::text))", ["only"]],
  ["citext", "CHECK ((x = ANY (ARRAY['a'::text, 'b'::text])))", undefined],
  ["text", "CHECK ((lower(x) = ANY (ARRAY['a'::text, 'b'::text])))", undefined],
  ["text", "CHECK ((x = ANY (ARRAY['a'::text, 'b'::text]))) NOT VALID", undefined],
  ["text", "CHECK ((x <> ALL (ARRAY['a'::text, 'b'::text])))", undefined],
  ["text", "CHECK ((x = ANY (ARRAY['a'::text, NULL::text])))", undefined],
  ["text", "CHECK ((x = ANY (ARRAY['a'::text, 'b\\c'::text])))", ["a", "b\\c"]],
  ["text", "CHECK (((x = ANY (ARRAY['a'::text])) OR (y = 'b'::text)))", undefined],
  ["text", "CHECK ((x > 'a'::text))", undefined],
])("[DS9] %s with %s allows %j", (type, definition, values) => {
  const { field } = ofColumn({ type, length: 1 }, [{ columns: ["x"], definition }]);
  expect(field).toEqual(
    values ? { type: "enum", values, nullable: true } : { type: "string", nullable: true, maxLength: 1 },
  );
});

test("[DS9] the check of another column, or of two, makes no enum; the check of a domain does", () => {
  const definition = "CHECK ((x = ANY (ARRAY['a'::text, 'b'::text])))";
  expect(ofColumn({}, [{ columns: ["y"], definition }]).field?.type).toBe("string");
  expect(ofColumn({}, [{ columns: ["x", "y"], definition }]).field?.type).toBe("string");
  const domainChecks = ["CHECK ((VALUE <> ''::text))", definition.replace("x", "VALUE")];
  expect(ofColumn({ domainChecks }).field?.values).toEqual(["a", "b"]);
  expect(ofColumn({ domainChecks, isArray: true }).field).toEqual({ type: "array", items: "string", nullable: true });
});

test.each<[string, Partial<CatalogColumn>, string, unknown]>([
  ["a text", {}, "'it''s'::text", "it's"],
  ["a varchar", { type: "varchar" }, "'a'::character varying", "a"],
  ["a varchar with a length", { type: "varchar" }, "'a'::character varying(10)", "a"],
  ["a type with a quoted name", {}, `'a'::shop."My ""type"""`, "a"],
  ["an empty text", {}, "''::text", ""],
  ["char(3)", { type: "bpchar", length: 3 }, "'a'::bpchar", "a  "],
  ["a text with a backslash", {}, "'a\\b'::text", "a\\b"],
  ["a concatenation", {}, "('a'::text || 'b'::text)", undefined],
  ["a concatenation with a function", {}, "('a'::text || CURRENT_USER)", undefined],
  ["a function", {}, "lower('A'::text)", undefined],
  ["null", {}, "NULL::text", undefined],
  ["an integer", { type: "int4" }, "5", 5],
  ["a negative integer", { type: "int4" }, "'-5'::integer", -5],
  ["a negative integer in brackets", { type: "int4" }, "(-5)", -5],
  ["a sequence", { type: "int4" }, "nextval('things_x_seq'::regclass)", undefined],
  ["an integer that is not exact", { type: "int8" }, "'9007199254740993'::bigint", undefined],
  ["a fraction", { type: "float8" }, "0.5", 0.5],
  ["a cast number", { type: "float4" }, "(0)::real", 0],
  ["NaN", { type: "float8" }, "'NaN'::double precision", undefined],
  ["a sum", { type: "int4" }, "(1 + 2)", undefined],
  ["numeric", { type: "numeric" }, "4.90", "4.90"],
  ["numeric as a text", { type: "numeric" }, "'-4.90'::numeric(5,2)", "-4.90"],
  ["true", { type: "bool" }, "true", true],
  ["false", { type: "bool" }, "false", false],
  ["a date", { type: "date" }, "'2026-01-31'::date", "2026-01-31"],
  ["a date in another style", { type: "date" }, "'31/01/2026'::date", undefined],
  ["a date that is computed", { type: "date" }, "('now'::text)::date", undefined],
  ["a timestamp", { type: "timestamp" }, "'2026-01-31 00:00:00'::timestamp without time zone", undefined],
  ["a moment", { type: "timestamptz" }, "'2026-01-31 00:00:00+00'::timestamp with time zone", undefined],
  ["inet, which a row may spell in another way", { type: "inet" }, "'::1/128'::inet", undefined],
  ["a label", { type: "mood", labels: ["good"] }, "'good'::mood", "good"],
  ["no label", { type: "mood", labels: ["good"] }, "'bad'::mood", undefined],
  ["JSON", { type: "jsonb" }, `'{"a": [1]}'::jsonb`, { a: [1] }],
  ["no JSON", { type: "point", isObject: true }, "'(1,2)'::point", undefined],
  ["an empty array", { isArray: true }, "'{}'::text[]", []],
  ["an empty array of numbers", { type: "int4", isArray: true }, "ARRAY[]::integer[]", []],
  ["a list", { isArray: true }, "ARRAY['a'::text, 'b, c'::text]", ["a", "b, c"]],
  ["a list of others", { type: "date", isArray: true }, "ARRAY['01/02/2026'::date]", undefined],
  ["an array as a text", { isArray: true }, "'{a,b}'::text[]", undefined],
])("[DS9] the default of a column: %s", (_, more, expression, expected) => {
  expect(ofColumn({ ...more, default: expression }).field?.default).toEqual(expected);
});

test("[DS9] fields are the columns in camel case, and only columns that snake case does not give are listed", () => {
  const names = ["deck_id", "First Name", "HTMLBody", "address2", "line_2", "title", "_hidden", "createdAt"];
  const [one] = derived([
    table(
      "things",
      names.map((name) => column(name)),
    ),
  ]);
  expect(one?.columns.map(({ field }) => field)).toEqual([
    ...["deckId", "firstName", "htmlBody", "address2", "line2", "title", "hidden", "createdAt"],
  ]);
  expect(one?.columns.map(({ name }) => name)).toEqual(names);
  expect(one?.model.table).toEqual({
    ...{ name: "public.things", key: "id" },
    columns: {
      ...{ firstName: "First Name", htmlBody: "HTMLBody", line2: "line_2", hidden: "_hidden", createdAt: "createdAt" },
    },
  });
});

test("[DS9] the key is the id and no field, whatever its name", () => {
  const [one] = derived([
    table("things", [], { columns: [column("Thing", { type: "uuid" }), column("title")], primaryKey: ["Thing"] }),
  ]);
  expect(one?.keyColumn).toBe("Thing");
  expect(one?.columns).toEqual([{ field: "title", name: "title", declared: "string" }]);
  expect(one?.model).toEqual({
    fields: { title: { type: "string", nullable: true } },
    table: { name: "public.things", key: "Thing" },
  });
});

test.each([
  ["slides", "slide"],
  ["order_details", "orderDetail"],
  ["categories", "category"],
  ["ties", "tie"],
  ["addresses", "address"],
  ["address", "address"],
  ["boxes", "box"],
  ["matches", "match"],
  ["status", "status"],
  ["analysis", "analysis"],
  ["houses", "house"],
  ["us_states", "usState"],
  ["Order Details", "orderDetail"],
  ["people", "people"],
  ["film", "film"],
  ["s", "s"],
])("[DS9] the table %s has the model %s", (name, expected) => {
  expect(derived([table(name, [])])[0]?.modelName).toBe(expected);
});

test("[DS9] a given name comes first, by the SQL name of the table or as the table was given", () => {
  const tables = [
    table("people", [], { asked: "people" }),
    table("slides", [], { asked: "slides" }),
    table("decks", []),
  ];
  const names = new Map([
    ["public.people", "person"],
    ["slides", "page"],
  ]);
  expect(derived(tables, names).map(({ modelName }) => modelName)).toEqual(["person", "page", "deck"]);
});

test("[DS9] a foreign key to the id of another table in the list references its model, if ids are strings", () => {
  const key = (name: string, other: string, otherColumn = "id") => ({
    ...{ column: name, table: `public.${other}`, otherColumn },
  });
  const slides = table(
    "slides",
    [column("deck_id"), column("owner"), column("code"), column("count", { type: "int4" })],
    {
      foreignKeys: [
        key("deck_id", "decks"),
        key("owner", "people"),
        key("code", "decks", "code"),
        key("count", "decks"),
      ],
    },
  );
  const nested = table("parts", [column("parent"), column("view")], {
    foreignKeys: [key("parent", "parts"), key("view", "broken")],
  });
  const broken = table("broken", [], { kind: "foreign" });
  const found = deriveModels([slides, table("decks", []), nested, broken], {
    modelNames: new Map([["public.decks", "deckModel"]]),
  });
  const fields = Object.assign({}, ...found.map((one) => ("model" in one ? one.model.fields : {})));
  expect(fields.deckId.references).toBe("deckModel");
  expect(fields.owner.references).toBe(undefined);
  expect(fields.code.references).toBe(undefined);
  expect(fields.count.references).toBe(undefined);
  expect(fields.parent.references).toBe("part");
  expect(fields.view.references).toBe(undefined);
});

test("[DS9] a referenced model comes before those that reference it; otherwise the order stays", () => {
  const refers = (name: string, ...others: readonly string[]) =>
    table(
      name,
      others.map((other) => column(`${other}_id`)),
      {
        foreignKeys: others.map((other) => ({ column: `${other}_id`, table: `public.${other}`, otherColumn: "id" })),
      },
    );
  const found = derived([
    refers("c", "b", "c"),
    refers("x"),
    refers("b", "a"),
    refers("a"),
    refers("p", "q"),
    refers("q", "p"),
  ]);
  expect(found.map(({ modelName }) => modelName)).toEqual(["a", "b", "c", "x", "q", "p"]);
});

test("[DS9] a bigint key is a note", () => {
  const columns = [column("id", { type: "int8" })];
  expect(derived([table("things", [], { columns })])[0]?.notes).toEqual([
    "id is int8: ids beyond ±9007199254740991 are not exact, and two of them may become equal.",
  ]);
});

test.each<[string, Partial<CatalogTable>, RegExp]>([
  ["a view", { kind: "view" }, /^It is a view, .*: attach the tables that it reads\.$/],
  ["a materialized view", { kind: "materialized view" }, /^It is a materialized view, /],
  ["a foreign table", { kind: "foreign" }, /^It is a foreign table, /],
  [
    "a temporary table",
    { persistence: "temporary" },
    /^It is a temporary table, .*: create it as a permanent table\.$/,
  ],
  ["an unlogged table", { persistence: "unlogged" }, /"alter table public\.things set logged"/],
  ["forced row security", { rowSecurity: "forced" }, /"alter table public\.things no force row level security"/],
  [
    "a partition",
    { partitionOf: "public.whole" },
    /^It is a partition of public\.whole: attach public\.whole instead\.$/,
  ],
  ["a child", { parents: ["public.base"] }, /"alter table public\.things no inherit public\.base"/],
  [
    "a parent",
    { children: ["public.a"] },
    /^public\.a inherits from it, .*"alter table public\.a no inherit public\.things"/,
  ],
  ["a parent of two", { children: ["public.a", "public.b"] }, /^public\.a, public\.b inherit from it, /],
  ["a table of Holdfast", { schema: "holdfast" }, /^The schema holdfast belongs to Holdfast itself: /],
  ["a table of Postgres", { schema: "pg_catalog" }, /^The schema pg_catalog belongs to Postgres itself: /],
  [
    "no primary key",
    { primaryKey: [] },
    /^It has no primary key, .*"alter table public\.things add primary key \(…\)"/,
  ],
  [
    "two key columns of a partitioned table",
    { kind: "partitioned", primaryKey: ["at", "id"] },
    /^Its primary key has 2 columns \(at, id\), and a record has one id\. .*: copy its rows into a table that /,
  ],
  [
    "no primary key of a partitioned table",
    { kind: "partitioned", primaryKey: [] },
    /^It has no primary key, .*copy its rows/,
  ],
  [
    "two key columns",
    {
      primaryKey: ["a", "B"],
      columns: [column("a"), column("B")],
      keyConstraint: { name: "things_pkey", definition: 'PRIMARY KEY (a, "B")' },
    },
    /^Its primary key has 2 columns \(a, B\), .*: run "alter table public\.things drop constraint things_pkey, add column id uuid primary key default gen_random_uuid\(\), add unique \(a, "B"\)"\.$/,
  ],
  [
    "two key columns, one of which is called id",
    { primaryKey: ["id", "b"], columns: [column("id"), column("b")] },
    /, add column uid uuid primary key default /,
  ],
  [
    "two key columns, where no usual name of a key is free",
    { primaryKey: ["id", "b"], columns: [column("id"), column("b"), column("uid")] },
    /: make a column that is unique by itself the primary key/,
  ],
])("[DS9] %s cannot be attached, and the problem says what to do", (_, more, expected) => {
  expect(problemOf(table("things", [], more))).toMatch(expected);
});

test.each(["text", "varchar", "citext", "uuid", "int2", "int4", "int8"])("[DS9] a key may be of type %s", (type) => {
  expect(problemOf(table("things", [], { columns: [column("id", { type })] }))).toBe(undefined);
});

test.each<[string, Partial<CatalogColumn>]>([
  ["date", { type: "date" }],
  ["numeric", { type: "numeric" }],
  ["bpchar", { type: "bpchar" }],
  ["text[]", { isArray: true }],
  ["text", { labels: ["a"] }],
  ["uuid", { type: "uuid", isObject: true }],
])("[DS9] a key may not be of another type: %s", (type, more) => {
  expect(problemOf(table("things", [], { columns: [column("id", more)] }))).toBe(
    `Its key id is of type ${type}: a key must be text, varchar, citext, uuid, smallint, integer or bigint.`,
  );
});

test.each([
  [["deck_id", "deckId"], 'Its columns deck_id and deckId would both be the field "deckId": rename one of them.'],
  [["ID", "thing_id"], 'Its columns ID and thing_id would both be the field "thingId": rename one of them.'],
  [
    ["größe"],
    'Its column größe would be the field "größe", but a field\'s name is a letter, then up to 62 letters, digits or _: rename the column.',
  ],
  [
    ["2fa"],
    'Its column 2fa would be the field "2fa", but a field\'s name is a letter, then up to 62 letters, digits or _: rename the column.',
  ],
  [
    ["$"],
    'Its column $ would be the field "", but a field\'s name is a letter, then up to 62 letters, digits or _: rename the column.',
  ],
])("[DS9] the columns %j are a problem", (names, expected) => {
  expect(
    problemOf(
      table(
        "things",
        names.map((name) => column(name)),
      ),
    ),
  ).toBe(expected);
});

test("[DS9] a model needs a valid name that no other one has", () => {
  expect(problemOf(table("2026", []))).toMatch(/^"2026" cannot be the name of its model, .*: choose another name/);
  const found = deriveModels([table("slides", []), table("SLIDE", []), table("decks", [])]);
  expect(found.map((one) => "problem" in one)).toEqual([false, true, false]);
  expect(found[1]).toMatchObject({
    problem: 'The model of public.slides is called "slide" too: choose another name for one of the models.',
  });
});

test("[DS9] models whose names differ only in case are a problem", () => {
  const found = deriveModels([table("decks", []), table("slides", [])], {
    modelNames: new Map([["public.decks", "Slide"]]),
  });
  expect(found.map((one) => "problem" in one)).toEqual([false, true]);
});

test("[DS9] a table that cannot be attached takes no name from another one", () => {
  const found = deriveModels([table("slide", [], { kind: "view" }), table("slides", [])]);
  expect(found.map((one) => "problem" in one)).toEqual([true, false]);
});

test("[DS80] the only nullable timestamp that is called deleted_at or archived_at says whether a record is archived", () => {
  const of = (...columns: CatalogColumn[]) => {
    const [one] = derived([table("things", [column("title"), ...columns])]);
    return [one?.model.table?.archived, Object.keys(one?.model.fields ?? {}), one?.columns.map(({ name }) => name)];
  };
  const moment = (name: string, more: Partial<CatalogColumn> = {}) => column(name, { type: "timestamptz", ...more });
  for (const found of [
    moment("deleted_at"),
    moment("archived_at"),
    moment("deletedAt", { type: "timestamp" }),
    moment("deleted_at", { type: "date" }),
  ])
    expect(of(found)).toEqual([found.name, ["title"], ["title", found.name]]);
  for (const other of [
    moment("removed_at"),
    column("deleted_at"),
    moment("deleted_at", { notNull: true }),
    moment("deleted_at", { isArray: true }),
    moment("deleted_at", { default: "now()" }),
    moment("deleted_at", { generated: "stored" }),
  ])
    expect(of(other)[0]).toBeUndefined();
  expect(of(moment("deleted_at"), moment("archived_at"))).toEqual([
    undefined,
    ["title", "deletedAt", "archivedAt"],
    ["title", "deleted_at", "archived_at"],
  ]);
  const [one] = derived([table("things", [moment("deleted_at")])]);
  expect(one?.notes).toEqual([expect.stringContaining("A record is archived while deleted_at is not null.")]);
});
