import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { startTrouble } from "../../start-trouble.ts";
import { freshClient } from "../../testing/fresh-connection.ts";
import { loadReceipts } from "../commits/db/receipts.ts";
import { isMigrated, migrate } from "./migrate.ts";
import { session } from "./pool.ts";

const SHIPPED = new URL("../../../migrations/", import.meta.url);
const names = (await readdir(SHIPPED)).sort();
const { url, client } = await freshClient(session);
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
    join(later, "9998_places.sql"),
    "alter table holdfast.organization add column place text not null default 'here'; create table holdfast.place (name text)",
  );
  const folder = pathToFileURL(`${later}/`);
  expect(await isMigrated(client, folder)).toBe(false);
  expect(await migrate(url, { folder })).toEqual(["9998_places.sql"]);
  expect(await isMigrated(client, folder)).toBe(true);
  expect((await client.query("select id, place from holdfast.organization")).rows).toEqual([
    { id: "org_a", place: "here" },
  ]);
  const grown = await tables();
  await emptied();
  expect(await migrate(url, { folder })).toEqual([...names, "9998_places.sql"]);
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

test("[O4] [I1] receipts of version 0.1 are found by their names, as they were", async () => {
  const first = temporaryFolder("first", onTestFinished);
  const [initial = ""] = names;
  await writeFile(join(first, initial), await readFile(new URL(initial, SHIPPED)));
  await emptied();
  await migrate(url, { folder: pathToFileURL(`${first}/`) });
  const fingerprint = "FV4IHbhdIT98BHaJE7EnJyUu5vXkJmFndJs8ZtnU0ns=";
  const body = '{"object":"commit_receipt",  "clientTxId":"x"}';
  const written = [
    { tenant: 1, participant: "system:key_1", name: "key-1" },
    { tenant: 1, participant: "agent:\u00e4\\ b", name: 'a\\b"' },
    { tenant: 2, participant: "system:key_1", name: "operation key-1" },
  ];
  for (const { tenant, participant, name } of written)
    await client.query("insert into holdfast.receipt values ($1, $2, $3, $4, $5, false, now())", [
      ...[tenant, participant, name, fingerprint],
      name.startsWith("operation") ? null : body,
    ]);
  expect(await migrate(url)).toEqual(names.slice(1));
  const { text, values, read } = loadReceipts([...written, { tenant: 2, participant: "system:key_1", name: "key-1" }]);
  const { rows } = await client.query({ text, values: [...values] });
  expect(read(rows, "SELECT")).toEqual(
    written.map((name, i) => ({ ...name, fingerprint, kept: i === 2 ? null : body, conflicted: false })),
  );
});
