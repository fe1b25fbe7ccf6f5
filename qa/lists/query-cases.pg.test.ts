import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../packages/sdk/src/protocol/json.ts";
import type { Field } from "../../packages/sdk/src/protocol/schema/model-schema.ts";
import { startWithTables } from "../../packages/server/src/testing/attached-tables.ts";
import { inWords, mistyped, queryCases } from "./query-cases.ts";

const { app, db, attach } = await startWithTables();

const COLUMNS: Readonly<Record<Field["type"], string>> = {
  ...{ string: "text", enum: "text", number: "double precision", integer: "bigint", boolean: "boolean" },
  ...{ datetime: "timestamptz", array: "jsonb", json: "jsonb" },
};

/** The same records, once in a table of the caller's and once kept by Holdfast. */
beforeAll(async () => {
  const kept: Record<string, object> = {};
  const operations: object[] = [];
  for (const [name, { model, rows }] of Object.entries(queryCases)) {
    const fields = Object.entries(model.fields);
    const columns = fields.map(([field, { type }]) => `"${field}" ${COLUMNS[type]}`);
    await db.query(`create table public.attached${name} (id text primary key, ${columns.join(", ")})`);
    for (const [id, data] of Object.entries(rows)) {
      const values = fields.map(([field, { type }]) => {
        const value = data[field] ?? null;
        return value !== null && (type === "json" || type === "array") ? JSON.stringify(value) : value;
      });
      const places = values.map((_, i) => `$${i + 2}`);
      await db.query(`insert into attached${name} values ($1, ${places.join(", ")})`, [id, ...values]);
      operations.push({ action: "create", model: `kept${name}`, id, data });
    }
    await attach(`public.attached${name}`, model.fields);
    kept[`kept${name}`] = model;
  }
  const { body } = await app.call("GET", "/v1/schema");
  const models = { ...(body.models as object), ...kept };
  const pushed = await app.call("POST", "/v1/schema", { json: { models } });
  expect(pushed.status, pushed.text).toBe(201);
  const made = await app.call("POST", "/v1/commits", { key: "kept", json: { operations } });
  expect(made.status, made.text).toBe(200);
});

/** All pages of a query. */
async function idsOf(model: string, query: object, limit: number): Promise<string> {
  const ids: string[] = [];
  for (let after: unknown; ; ) {
    const json = { ...query, limit, ...(after !== undefined && { starting_after: after }) };
    const { status, body, text } = await app.call("POST", `/v1/models/${model}/query`, { json });
    expect(status, text).toBe(200);
    ids.push(...(body.data as { id: string }[]).map(({ id }) => id));
    after = body.next_cursor ?? undefined;
    if (after === undefined) return ids.join(" ");
  }
}

describe.each(Object.entries(queryCases))("[G26] a list over HTTP finds what a client finds: %s", (name, { finds }) => {
  test.each(finds)("%j", async (query, ids) => {
    expect(await idsOf(`kept${name}`, query, 100)).toBe(ids);
    expect(await idsOf(`attached${name}`, query, 100)).toBe(ids);
  });
});

/** What a query counts, without its records. */
async function counted(model: string, query: object): Promise<JsonObject> {
  const { status, body, text } = await app.call("POST", `/v1/models/${model}/query`, { json: { ...query, limit: 0 } });
  expect(status, text).toBe(200);
  expect(body).toMatchObject({ data: [], has_more: false, next_cursor: null });
  return body as JsonObject;
}

async function countsOf(model: string, query: object) {
  const found = (await counted(model, query)).counts as { value: unknown; count: number }[];
  return found.map(({ value, count }) => [value, count] as const);
}

describe.each(Object.entries(queryCases))(
  "[G33] [G34] a query counts what a client counts: %s",
  (name, { finds, counts }) => {
    test.each(counts)("%s of %j", async (countBy, query, expected) => {
      for (const model of [`kept${name}`, `attached${name}`]) {
        const found = await countsOf(model, { ...query, countBy });
        expect(inWords(found)).toEqual(expected.toSorted());
        const times = found.map(([, count]) => count);
        expect(times).toEqual(times.toSorted((a, b) => b - a));
      }
    });

    test("as many as it lists", async () => {
      for (const model of [`kept${name}`, `attached${name}`])
        for (const [query, ids] of finds)
          expect((await counted(model, { ...query, count: true })).count, JSON.stringify(query)).toBe(
            ids.split(" ").filter((id) => id !== "").length,
          );
    });
  },
);

test("[G26] [R61] [R93] a query finds what is of its field's type, and takes anything else as none", async () => {
  const { body } = await app.call("GET", "/v1/schema");
  const models = { ...(body.models as object), mistyped: mistyped.model };
  expect((await app.call("POST", "/v1/schema", { json: { models } })).status).toBe(201);
  for (const [id, data] of Object.entries(mistyped.rows))
    await app.sql(
      `insert into holdfast.record (tenant, model, id, sync_id, data, groups, created_sync_id, created_by, created_at, updated_at, updated_by)
       select $1, 'mistyped', $2, 1, $3, '{}', 1, '', now(), now(), ''`,
      [app.tenants.live, id, JSON.stringify({ id, ...data })],
    );
  for (const [where, ids] of mistyped.finds)
    expect(await idsOf("mistyped", { where }, 100), JSON.stringify(where)).toBe(ids);
  for (const [countBy, value] of Object.entries({ title: "todo", status: "todo", effort: 3 }))
    expect(inWords(await countsOf("mistyped", { countBy })), countBy).toEqual([`1 ${JSON.stringify(value)}`, "3 null"]);
  expect(inWords(await countsOf("mistyped", { countBy: "labels" }))).toEqual(['1 "todo"', "1 3", "3 null"]);
});
