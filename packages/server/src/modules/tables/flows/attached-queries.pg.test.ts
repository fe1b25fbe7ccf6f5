import type { Field } from "@holdfast/sdk/protocol";
import { beforeAll, expect, test } from "vitest";
import { session } from "../../../kernel/connection/pool.ts";
import { type ListQuestion, listQuery } from "../../../kernel/lists/db/list-records.ts";
import { relationOf } from "../../../kernel/lists/flows/record-places.ts";
import { type ListQuery, readListQuery } from "../../../kernel/lists/rules/list-query.ts";
import { liveSchema } from "../../../kernel/schema/flows/live-schema.ts";
import { createSchemaCache } from "../../../kernel/schema/flows/schema-cache.ts";
import { startWithTables } from "../../../testing/attached-tables.ts";
import { readPlan } from "../../../testing/read-plan.ts";
import { tablePlaces } from "./table-places.ts";

const { app, db, pool, tenant, attach } = await startWithTables();

interface Column {
  readonly sql: string;
  readonly field: Pick<Field, "type" | "values">;
  /** As SQL has them. */
  readonly values: readonly (string | null)[];
  /** What a query asks for. */
  readonly operands: readonly unknown[];
}

const TEXTS = ["", "a", "ab", "é", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"];
const WHOLE = [-3, 0, 7, 32_767, 2 ** 53 - 1, -(2 ** 53 - 1)];
const BOUNDS = [0.5, -3.5, 1e300, -1e300, 2 ** 53, 2 ** 63, 2 ** 64];
const text = (sql: string, values: readonly (string | null)[]): Column => ({
  ...{ sql, field: { type: "string" }, values, operands: TEXTS },
});
const whole = (sql: string, values: readonly string[]): Column => ({
  ...{ sql, field: { type: "integer" }, values: [...values, null], operands: [...WHOLE, ...BOUNDS] },
});

const COLUMNS: Readonly<Record<string, Column>> = {
  plain: text("text", ["a", "A", "", "ab", null]),
  varied: text("varchar(20)", ["ab", "a", null, "é"]),
  folded: text('text collate "blind"', ["ab", "A", "a", null]),
  padded: text("char(5)", ["ab", "a", null]),
  named: text("name", ["ab", "a", null]),
  key: text("uuid", ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", null]),
  size: {
    sql: "size",
    field: { type: "enum", values: ["small", "large"] },
    values: ["large", "small", null],
    operands: ["small", "large"],
  },
  short: text("short", ["ab", null, "b"]),
  address: text("inet", ["10.0.0.1", null]),
  tiny: whole("int2", ["-3", "7", "32767"]),
  usual: whole("int4", ["-3", "7", "2147483647"]),
  big: whole("int8", ["-3", "0", "9007199254740991"]),
  share: {
    sql: "float8",
    field: { type: "number" },
    values: ["0.1", "-1.5", "NaN", "1e21", "Infinity", "3", "-Infinity", null],
    operands: [0.1, 3, 1e21, -0, 5e-324],
  },
  ratio: {
    ...{ sql: "float4", field: { type: "number" } },
    values: ["0.1", "NaN", "-Infinity", "3", null],
    operands: [0.1, 3, -1],
  },
  score: {
    ...{ sql: "numeric", field: { type: "number" } },
    values: ["0.5", "NaN", "Infinity", "1e400", "3", null],
    operands: [0.5, 3, -1],
  },
  price: {
    sql: "numeric(10,2)",
    field: { type: "string" },
    values: ["1.50", "10", null],
    operands: ["1.50", "1.5", "10.00"],
  },
  isDone: { sql: "bool", field: { type: "boolean" }, values: ["true", "false", null], operands: [true, false] },
  at: {
    ...{ sql: "timestamptz", field: { type: "datetime" } },
    values: [
      ...["2026-01-02 03:04:05.6Z", "infinity", "2026-01-02 03:04:05.000001Z", "0044-03-15 BC", "0001-01-01 00:00Z"],
      ...["-infinity", "12026-01-01 00:00Z", null],
    ],
    operands: ["2026-01-02T03:04:05.6Z", "2026-01-02T04:04:05.000001+01:00", "9999-12-31T23:59:59.999999Z"],
  },
  day: text("date", ["2026-01-02", null]),
  list: {
    sql: "text[]",
    field: { type: "array" },
    values: ['{a,"b c",NULL}', "{}", null],
    operands: [["a", "b c", null], [], ["a"]],
  },
  doc: {
    sql: "jsonb",
    field: { type: "json" },
    values: ['{"b": 1.5, "a": [1]}', '"ab"', '["a", {"b": 1}]', "3", null],
    operands: [{ a: [1], b: 1.5 }, "ab", "a", 3, { b: 1 }, ["a", { b: 1 }]],
  },
  raw: {
    sql: "json",
    field: { type: "json" },
    values: ['{"b": 1, "a": [1]}', '"ab"', null],
    operands: [{ a: [1], b: 1 }, "ab"],
  },
};
const ROWS = 30;

/** The same records, once in a table of the caller's and once kept by Holdfast. */
beforeAll(async () => {
  await db.query(`create collation blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    create type size as enum ('small', 'large'); create domain short as varchar(8);`);
  const names = Object.keys(COLUMNS);
  const columns = Object.entries(COLUMNS).map(([name, { sql }]) => `"${name}" ${sql}`);
  await db.query(`create table public.manytypes (id text primary key, ${columns.join(", ")})`);
  for (let row = 0; row < ROWS; row++) {
    const values = Object.values(COLUMNS).map((column, i) => column.values[(row * (i + 3)) % column.values.length]);
    const places = values.map((_, i) => `$${i + 2}`);
    await db.query(`insert into manytypes values ($1, ${places.join(", ")})`, [
      `r${String(row).padStart(2, "0")}`,
      ...values,
    ]);
  }
  const fields = Object.fromEntries(names.map((name) => [name, { ...COLUMNS[name]?.field, nullable: true } as Field]));
  await attach("public.manytypes", fields);
  const { data } = (await app.call("GET", "/v1/models/manytypes?limit=100")).body as { data: { id: string }[] };
  expect(data).toHaveLength(ROWS);
  const { body } = await app.call("GET", "/v1/schema");
  const models = { ...(body.models as object), kept: { fields } };
  const pushed = await app.call("POST", "/v1/schema", { json: { models } });
  expect(pushed.status, pushed.text).toBe(201);
  const operations = data.map(({ id, ...rest }) => ({ action: "create", model: "kept", id, data: rest }));
  const made = await app.call("POST", "/v1/commits", { key: "kept", json: { operations } });
  expect(made.status, made.text).toBe(200);
});

const answer = async (model: string, query: object) => {
  const { status, body } = await app.call("POST", `/v1/models/${model}/query`, { json: { limit: 100, ...query } });
  return status === 200 ? (body.data as { id: string }[]).map(({ id }) => id).join(" ") : `${status} ${body.code}`;
};

/** What both answer: ids, or an error. */
async function both(query: object): Promise<string> {
  const kept = await answer("kept", query);
  expect(await answer("manytypes", query), JSON.stringify(query)).toBe(kept);
  return kept;
}

const COMPARISONS = ["not", "gt", "gte", "lt", "lte", "contains", "startsWith", "search"];

test.each(Object.entries(COLUMNS))(
  "[G26] [DS45] [DS85] a query by a column %s finds what it finds in kept records",
  async (name, { operands }) => {
    let found = 0;
    const find = async (condition: unknown) => {
      const ids = await both({ where: { [name]: condition } });
      expect(ids).not.toMatch(/^5/);
      if (/^r/.test(ids)) found++;
    };
    for (const operand of [null, ...operands]) {
      await find(operand);
      for (const operator of COMPARISONS) await find({ [operator]: operand });
    }
    for (const list of [[], operands, [null, ...operands], operands.slice(0, 1), operands.slice(0, 2)])
      for (const operator of ["in", "notIn"]) await find({ [operator]: list });
    expect(found).toBeGreaterThan(5);
  },
);

test("[G30] [DS45] an attached table is sorted by columns of all types as kept records are", async () => {
  const names = Object.keys(COLUMNS);
  for (const [i, name] of names.entries())
    for (const order of ["asc", "desc"])
      await both({ orderBy: [name, { field: names[(i + 1) % names.length] ?? name, order: "desc" }], order });
});

test("[DS85] [DS45] pages sorted by what a field cannot have have each record once, and backwards the same", async () => {
  for (const orderBy of ["share", "at", "score", "ratio"])
    for (const order of ["asc", "desc"]) {
      const page = async (json: object) =>
        (await app.call("POST", "/v1/models/manytypes/query", { json: { orderBy, order, ...json } })).body as {
          data: { id: string }[];
          next_cursor: string | null;
          previous_cursor?: string | null;
        };
      const whole = (await page({ limit: 100 })).data.map(({ id }) => id);
      const forward: string[] = [];
      let last = await page({ limit: 4 });
      for (; ; last = await page({ limit: 4, starting_after: last.next_cursor })) {
        forward.push(...last.data.map(({ id }) => id));
        if (last.next_cursor === null) break;
      }
      expect(forward, `${orderBy} ${order}`).toEqual(whole);
      const backward = last.data.map(({ id }) => id);
      for (let cursor = last.previous_cursor; typeof cursor === "string"; ) {
        const { data, previous_cursor } = await page({ limit: 4, ending_before: cursor });
        backward.unshift(...data.map(({ id }) => id));
        cursor = previous_cursor;
      }
      expect(backward, `${orderBy} ${order}`).toEqual(whole);
    }
});

test("[G33] [G34] [DS45] an attached table is counted by columns of all types as kept records are", async () => {
  for (const name of ["id", ...Object.keys(COLUMNS)]) {
    const [kept, attached] = await Promise.all(
      ["kept", "manytypes"].map(async (model) => {
        const json = { limit: 0, count: true, countBy: name, where: { id: { not: "r07" } } };
        const { body } = await app.call("POST", `/v1/models/${model}/query`, { json });
        return { counts: body.counts, count: body.count, code: body.code };
      }),
    );
    expect(attached, name).toEqual(kept);
    if (COLUMNS[name]?.field.type !== "json") expect(kept?.count, name).toBe(ROWS - 1);
  }
});

test("[G37] [G46] [DS45] an item of an array of any SQL type is found as in kept records, and with the table's GIN index", async () => {
  const types: Readonly<Record<string, string>> = {
    ...{ texts: "text[]", short: "varchar(9)[]", keys: "uuid[]", tiny: "int2[]", usual: "int4[]", big: "int8[]" },
    ...{ doc: "jsonb", raw: "json", shares: "float8[]", prices: "numeric[]", flags: "bool[]", days: "date[]" },
  };
  const columns = Object.entries(types).map(([name, type]) => `${name} ${type}`);
  await db.query(`create table public.lists (id text primary key, ${columns.join(", ")});
    create index on lists using gin (texts, short, keys); create index on lists using gin (tiny, usual);
    create index on lists using gin (big); create index on lists using gin (doc);
    insert into lists values
      ('a', '{a,b,NULL}', '{a,b}', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', '{1,2}', '{1,2147483647}', '{1,9007199254740991}', '["a", 1, null, ["a"], {"x": 1, "y": 2}]',
        '["a", 1]', '{1.5,1}', '{1.50,1}', '{t,f}', '{2026-01-02}'),
      ('b', '{{a,b},{c,d}}', '{}', '{}', '{{1},{2}}', '{}', '{NULL}', '{"a": 1}', '"a"', '{}', '{}', '{}', '{}'),
      ('c', null, null, null, null, null, null, '"a"', 'null', null, null, null, null),
      ('d', '{"[1]",1,"null"}', '{1}', null, '{-32768}', '{-2147483648}', '{-1}', '[[[]], [], "1", 1.0]', '[1, "1"]', '{-0}', null, null, null);`);
  const names = Object.keys(types);
  const fields = Object.fromEntries(names.map((name): [string, Field] => [name, { type: "array", nullable: true }]));
  await attach("public.lists", fields);
  const { data } = (await app.call("GET", "/v1/models/lists")).body as { data: { id: string }[] };
  const { body } = await app.call("GET", "/v1/schema");
  const models = { ...(body.models as object), keptlists: { fields } };
  expect((await app.call("POST", "/v1/schema", { json: { models } })).status).toBe(201);
  const operations = data.map(({ id, ...rest }) => {
    // What is no list counts as none, and cannot be kept.
    const lists = Object.entries(rest).map(([name, value]) => [name, Array.isArray(value) ? value : null]);
    return { action: "create", model: "keptlists", id, data: Object.fromEntries(lists) };
  });
  const made = await app.call("POST", "/v1/commits", { key: "keptlists", json: { operations } });
  expect(made.status, made.text).toBe(200);
  const items = [
    ...["a", "b", "c", "", "1", "[1]", "null", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
    ...["A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"],
    ...[1, 2, 1.5, 0, -1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 32_768, -32_768, 2 ** 53 - 1, 1e300],
    ...[
      "2026-01-02",
      "1.50",
      true,
      false,
      null,
      [],
      ["a"],
      ["a", "b"],
      [1],
      {},
      { x: 1 },
      { y: 2, x: 1 },
      "\\",
      "a'b",
      "{a}",
    ],
  ];
  const idsOf = ({ status, body, text }: Awaited<ReturnType<typeof app.call>>) =>
    status === 200 ? (body.data as { id: string }[]).map(({ id }) => id) : [text];
  let found = 0;
  for (const name of names) {
    for (const contains of items) {
      const json = { where: { [name]: { contains } } };
      const kept = idsOf(await app.call("POST", "/v1/models/keptlists/query", { json }));
      const own = idsOf(await app.call("POST", "/v1/models/lists/query", { json }));
      expect(own, `${name} ${JSON.stringify(contains)}`).toEqual(kept);
      found += own.length;
    }
    for (const text of ["a", "1", "null", '["a"]', '{"y":2,"x":1}', "1.5"]) {
      const search = `filter[${name}][contains]=${encodeURIComponent(text)}`;
      const kept = idsOf(await app.call("GET", `/v1/models/keptlists?${search}`));
      expect(idsOf(await app.call("GET", `/v1/models/lists?${search}`)), `${name} ${text}`).toEqual(kept);
    }
  }
  expect(found).toBeGreaterThan(30);

  const declared = (await liveSchema(pool, createSchemaCache(), tenant)).models.get("lists");
  const relation = declared && (await relationOf(tablePlaces, pool, tenant, declared));
  if (!relation) throw new Error("It is not attached.");
  const client = await app.connect({ ...session, options: "-c enable_seqscan=off" });
  for (const [name, contains, index] of [
    ["texts", "a", "lists_texts_short_keys_idx"],
    ["short", "a", "lists_texts_short_keys_idx"],
    ["keys", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "lists_texts_short_keys_idx"],
    ["tiny", 1, "lists_tiny_usual_idx"],
    ["usual", 1, "lists_tiny_usual_idx"],
    ["big", 1, "lists_big_idx"],
    ["doc", { x: 1, y: 2 }, "lists_doc_idx"],
  ] as const) {
    const { filters, order } = readListQuery(
      { where: { [name]: { contains } } },
      declared.model,
      (one) => one,
    ) as ListQuery;
    const question: ListQuestion = {
      ...{ tenant, model: "lists", relation, state: "live", ids: undefined, filters, groups: undefined, order },
      ...{ after: undefined, limit: 100, bytes: 2 ** 22 },
    };
    const plan = JSON.stringify((await readPlan(client, listQuery(question))).plan);
    expect(plan.includes(`"Index Name":"${index}"`) ? index : plan, name).toBe(index);
  }
});

test("[G31] a query of an attached table reads the table's own indexes", async () => {
  await db.query(`create table public.manyrows (id text primary key, owner text, n bigint, at timestamptz, free text);
    insert into manyrows select 'r' || i, 'o' || i % 5000, i, timestamptz '2026-01-01' + i * interval '1 minute', i::text from generate_series(1, 60000) i;
    create index by_owner on manyrows (owner); create index by_n on manyrows (n); create index by_at on manyrows (at);
    analyze manyrows;`);
  const fields = { owner: {}, n: { type: "integer" }, at: { type: "datetime" }, free: {} } as const;
  await attach("public.manyrows", fields);
  const declared = (await liveSchema(pool, createSchemaCache(), tenant)).models.get("manyrows");
  const relation = declared && (await relationOf(tablePlaces, pool, tenant, declared));
  if (!relation) throw new Error("It is not attached.");
  const client = await app.connect(session);
  const either = { or: [{ free: { not: "7" } }, { n: { lt: 3 } }] };
  for (const [where, index] of [
    [{ owner: "o77", ...either }, "by_owner"],
    [{ and: [{ owner: "o77" }, either] }, "by_owner"],
    [{ owner: { in: ["o77", "o78", "o79"] }, ...either }, "by_owner"],
    [{ n: { gte: 500, lt: 510 }, ...either }, "by_n"],
    [{ n: { in: [500, 501] } }, "by_n"],
    [{ at: { gt: "2026-02-11T00:00:00Z" } }, "by_at"],
    [{ id: { in: ["r500", "r501"] } }, "manyrows_pkey"],
  ] as const) {
    const { filters, order } = readListQuery({ where }, declared.model, (name) => name) as ListQuery;
    const question: ListQuestion = {
      ...{ tenant, model: "manyrows", relation, state: "live", ids: undefined, filters, groups: undefined, order },
      ...{ after: undefined, limit: 100, bytes: 2 ** 22 },
    };
    const plan = JSON.stringify((await readPlan(client, listQuery(question))).plan);
    expect(plan.includes(`"Index Name":"${index}"`) ? index : plan, JSON.stringify(where)).toBe(index);
  }
});
