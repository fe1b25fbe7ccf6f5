import pg from "pg";
import { expect, inject, test } from "vitest";
import { freshDatabase } from "./database.ts";
import { createTemplate, dropRun } from "./template-database.ts";

const database = await freshDatabase();
const other = await freshDatabase();

test("a fresh database has the tables of every migration and no rows", async () => {
  const [counts] = await query(
    database.url,
    "select (select count(*)::int from holdfast.migration) migrations, (select count(*)::int from holdfast.tenant) tenants",
  );
  expect(counts).toEqual({ migrations: expect.toSatisfy((n: number) => n > 0), tenants: 0 });
});

test("one test file does not see the writes of another", async () => {
  await query(database.url, "create table public.mine ()");
  expect(await query(other.url, "select to_regclass('public.mine') mine")).toEqual([{ mine: null }]);
});

test("a run drops only its own databases", async () => {
  const { serverUrl, name } = inject("templateDatabase");
  const run = await createTemplate(serverUrl);
  await dropRun(run);
  const left = await query(serverUrl, "select datname from pg_database");
  expect(left).not.toContainEqual({ datname: run.name });
  expect(left).toContainEqual({ datname: name });
});

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
