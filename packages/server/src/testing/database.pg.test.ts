import { expect, inject, test } from "vitest";
import { freshDatabase } from "./database.ts";
import { runSql } from "./run-sql.ts";
import { createTemplate, dropRun } from "./template-database.ts";

const database = await freshDatabase();
const other = await freshDatabase();

test("a fresh database has the tables of every migration and no rows", async () => {
  const [counts] = await runSql(
    database.url,
    "select (select count(*)::int from holdfast.migration) migrations, (select count(*)::int from holdfast.tenant) tenants",
  );
  expect(counts).toEqual({ migrations: expect.toSatisfy((n: number) => n > 0), tenants: 0 });
});

test("one test file does not see the writes of another", async () => {
  await runSql(database.url, "create table public.mine ()");
  expect(await runSql(other.url, "select to_regclass('public.mine') mine")).toEqual([{ mine: null }]);
});

test("a run drops only its own databases", async () => {
  const { serverUrl, name } = inject("templateDatabase");
  const run = await createTemplate(serverUrl);
  await dropRun(run);
  const left = await runSql(serverUrl, "select datname from pg_database");
  expect(left).not.toContainEqual({ datname: run.name });
  expect(left).toContainEqual({ datname: name });
});
