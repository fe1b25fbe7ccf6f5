import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { startTrouble } from "../../start-trouble.ts";
import { freshClient } from "../../testing/fresh-connection.ts";
import { isMigrated, migrate } from "./migrate.ts";

const SHIPPED = new URL("../../../migrations/", import.meta.url);
const names = (await readdir(SHIPPED)).sort();
const { url, client } = await freshClient();
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

test("[O4] a database of an earlier version gets what is missing, keeps what it has, and ends as a new one does", async () => {
  await emptied();
  await migrate(url);
  await client.query("insert into holdfast.organization (id, name) values ('org_a', 'A')");
  const later = temporaryFolder("later", onTestFinished);
  for (const name of names) await writeFile(join(later, name), await readFile(new URL(name, SHIPPED)));
  await writeFile(
    join(later, "0002_places.sql"),
    "alter table holdfast.organization add column place text not null default 'here'; create table holdfast.place (name text)",
  );
  const folder = pathToFileURL(`${later}/`);
  expect(await isMigrated(client, folder)).toBe(false);
  expect(await migrate(url, { folder })).toEqual(["0002_places.sql"]);
  expect(await isMigrated(client, folder)).toBe(true);
  expect((await client.query("select id, place from holdfast.organization")).rows).toEqual([
    { id: "org_a", place: "here" },
  ]);
  const grown = await tables();
  await emptied();
  expect(await migrate(url, { folder })).toEqual([...names, "0002_places.sql"]);
  expect(await tables()).toEqual(grown);
});

test("[O18] a database that a later version has migrated is not touched", async () => {
  await emptied();
  await migrate(url);
  await client.query("insert into holdfast.migration (name) values ('9999_later.sql')");
  const error = await migrate(url).catch((failure: unknown) => failure);
  expect(startTrouble(error)).toMatch(/^DATABASE_URL: .* later version of Holdfast .*9999_later\.sql/);
});

test("[O4] a failed migration leaves no trace, and earlier ones stay", async () => {
  const broken = temporaryFolder("broken", onTestFinished);
  await writeFile(join(broken, "0001_fine.sql"), "create table holdfast.fine ()");
  await writeFile(join(broken, "0002_broken.sql"), "create table holdfast.half (); select 1 / 0");
  await emptied();
  await expect(migrate(url, { folder: pathToFileURL(`${broken}/`) })).rejects.toThrow("division by zero");
  const { rows } = await client.query(
    "select to_regclass('holdfast.fine') is not null as fine, to_regclass('holdfast.half') is not null as half",
  );
  expect(rows).toEqual([{ fine: true, half: false }]);
});
