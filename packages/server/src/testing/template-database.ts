import { randomBytes } from "node:crypto";
import { migrate } from "../kernel/connection/migrate.ts";
import { connected, runSql } from "./run-sql.ts";

/** A migrated database that tests only copy, never write to. */
export type TemplateDatabase = { serverUrl: string; name: string };

/** Created once per run. Its name is unique, so that several runs can share one Postgres. */
export async function createTemplate(serverUrl: string): Promise<TemplateDatabase> {
  const name = `holdfast_test_${randomBytes(4).toString("hex")}`;
  await runSql(serverUrl, `create database ${name}`);
  await migrate(urlOf(serverUrl, name));
  return { serverUrl, name };
}

/** Creates a database with the newest tables and no rows. Returns its URL. */
export async function copyTemplate({ serverUrl, name }: TemplateDatabase): Promise<string> {
  const copy = `${name}_${randomBytes(4).toString("hex")}`;
  await runSql(serverUrl, `create database ${copy} template ${name}`);
  return urlOf(serverUrl, copy);
}

/** Drops a test database and disconnects its clients. */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await runSql(serverUrl, `drop database if exists ${name} with (force)`);
}

/** Drops the template and every copy that a crashed test file has left behind. */
export async function dropRun({ serverUrl, name }: TemplateDatabase): Promise<void> {
  await using client = await connected(serverUrl);
  const { rows } = await client.query<{ datname: string }>(
    "select datname from pg_database where datname = $1 or starts_with(datname, $1 || '_')",
    [name],
  );
  for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`);
}

/** The same server with another database. */
export function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
