import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { startTrouble } from "../../start-trouble.ts";
import { freshDatabase } from "../../testing/database.ts";
import { isMigrated, migrate } from "./migrate.ts";

const SHIPPED = new URL("../../../migrations/", import.meta.url);
const names = (await readdir(SHIPPED)).sort();
const { url } = await freshDatabase();
const client = new pg.Client({ connectionString: url });
await client.connect();
const folder = await mkdtemp(join(tmpdir(), "holdfast-migrations-"));
afterAll(async () => {
  await client.end();
  await rm(folder, { recursive: true });
});
const emptied = () => client.query("drop schema if exists holdfast cascade");
const tables = async () =>
  (
    await client.query(
      "select table_name, column_name, data_type from information_schema.columns where table_schema = 'holdfast' order by 1, 2",
    )
  ).rows;

test("[O4] from nothing to the newest, and then nothing more", async () => {
  await emptied();
  await expect(isMigrated(client)).rejects.toThrow();
  expect(await migrate(url)).toEqual(names);
  expect(await isMigrated(client)).toBe(true);
  expect(await migrate(url)).toEqual([]);
});

test("[O4] eight processes at once apply each of them once", async () => {
  await emptied();
  const applied = await Promise.all(Array.from({ length: 8 }, () => migrate(url)));
  expect(applied.flat()).toEqual(names);
  expect(
    (await client.query("select name from holdfast.migration order by 1")).rows.map(({ name }) => name as string),
  ).toEqual(names);
});

// Some 250 migrations, each in a transaction of its own.
test("[O4] from every earlier version to the newest gives the same tables", { timeout: 240_000 }, async () => {
  await emptied();
  await migrate(url);
  const wanted = await tables();
  for (let n = 1; n < names.length; n++) {
    await emptied();
    for (const name of names.slice(0, n)) await writeFile(join(folder, name), await readFile(new URL(name, SHIPPED)));
    await migrate(url, pathToFileURL(`${folder}/`));
    expect(await isMigrated(client)).toBe(false);
    expect(await migrate(url)).toEqual(names.slice(n));
    expect(await tables()).toEqual(wanted);
  }
});

test("[O18] a database that a later version has migrated is not touched", async () => {
  await emptied();
  await migrate(url);
  await client.query("insert into holdfast.migration (name) values ('9999_later.sql')");
  const error = await migrate(url).catch((failure: unknown) => failure);
  expect(startTrouble(error)).toMatch(/^DATABASE_URL: .* later version of Holdfast .*9999_later\.sql/);
});

test("[O4] [G12] a record deleted before the migration keeps the position of its creation and its whole history", async () => {
  await emptied();
  const earlier = await mkdtemp(join(tmpdir(), "holdfast-earlier-"));
  for (const name of names.filter((name) => name < "0012"))
    await writeFile(join(earlier, name), await readFile(new URL(name, SHIPPED)));
  await migrate(url, pathToFileURL(`${earlier}/`));
  await client.query(`insert into holdfast.organization (id, name) values ('org_a', 'A');
    insert into holdfast.world (organization, livemode) values ('org_a', true), ('org_a', false)`);
  const lives = ["created", "updated", "deleted", "created", "created", "deleted", "deleted", "created"];
  const [a, b] = ["a", "b"];
  const owners = [a, a, a, a, b, a, b, b];
  // In the other tenant the log was trimmed: the first life of `a` began before it.
  for (const [tenant, from] of [
    [1, 1],
    [2, 2],
  ] as const)
    for (const [i, verb] of lives.entries())
      if (i + 1 >= from)
        await client.query(
          "insert into holdfast.log values ($1, $2, 'slide', $3, $4, null, null, '{}', null, '', null, null, '', 'system', null, now())",
          [tenant, i + 1, owners[i], verb],
        );
  await migrate(url);
  const { rows } = await client.query(
    "select tenant, sync_id, created_sync_id as made from holdfast.log where verb = 'deleted' or created_sync_id is not null order by 1, 2",
  );
  expect(rows).toEqual([
    { tenant: 1, sync_id: "3", made: "1" },
    { tenant: 1, sync_id: "6", made: "4" },
    { tenant: 1, sync_id: "7", made: "5" },
    { tenant: 2, sync_id: "3", made: null },
    { tenant: 2, sync_id: "6", made: "4" },
    { tenant: 2, sync_id: "7", made: "5" },
  ]);
  await rm(earlier, { recursive: true });
});

test("[O4] a failed migration leaves no trace, and earlier ones stay", async () => {
  const broken = await mkdtemp(join(tmpdir(), "holdfast-broken-"));
  await writeFile(join(broken, "0001_fine.sql"), "create table holdfast.fine ()");
  await writeFile(join(broken, "0002_broken.sql"), "create table holdfast.half (); select 1 / 0");
  await emptied();
  await expect(migrate(url, pathToFileURL(`${broken}/`))).rejects.toThrow("division by zero");
  const { rows } = await client.query(
    "select to_regclass('holdfast.fine') is not null as fine, to_regclass('holdfast.half') is not null as half",
  );
  expect(rows).toEqual([{ fine: true, half: false }]);
  await rm(broken, { recursive: true });
});
