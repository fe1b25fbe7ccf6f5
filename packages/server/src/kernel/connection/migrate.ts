import { readdir, readFile } from "node:fs/promises";
import type pg from "pg";
import { connectTo } from "./connection.ts";
import { errorState, INSUFFICIENT_PRIVILEGE } from "./database-error.ts";
import { session } from "./pool.ts";

const FOLDER = new URL("../../../migrations/", import.meta.url);
/** Any fixed number. Processes that start at the same time migrate one after another under this advisory lock. */
const LOCK = 4_270_001;

/** A later version has migrated the database. This version might damage it. */
export class NewerDatabase extends Error {}

/** Our role lacks a right on its own schema: the message says how to give it. */
export class MissingRight extends Error {}

export interface MigrateOptions {
  /** Default: the migrations of this release. */
  readonly folder?: URL;
  /** When it is given up. Default: it takes as long as it takes. */
  readonly lifeMs?: number;
}

/** Migrates the schema `holdfast` to the newest version, forward only. Returns the names of the applied migrations. */
export async function migrate(url: string, { folder = FOLDER, lifeMs }: MigrateOptions = {}): Promise<string[]> {
  const life = lifeMs === undefined ? {} : { lifeMs };
  const client = await connectTo(url, { ...session, ...life, options: "-c timezone=UTC" });
  client.answers("in time");
  try {
    await client.query("select pg_advisory_lock($1)", [LOCK]);
    return await applyMissing(client, folder);
  } catch (error) {
    throw errorState(error) === INSUFFICIENT_PRIVILEGE ? await missingRight(url, (error as Error).message) : error;
  } finally {
    await client.end();
  }
}

/** Whether every migration of this version has been applied. */
export async function isMigrated(client: Pick<pg.ClientBase, "query">, folder: URL = FOLDER): Promise<boolean> {
  const { rows } = await client.query<{ name: string }>("select name from holdfast.migration");
  const applied = new Set(rows.map(({ name }) => name));
  return (await shipped(folder)).every((name) => applied.has(name));
}

async function applyMissing(client: pg.Client, folder: URL): Promise<string[]> {
  // Postgres asks for the right to create schemas even if it exists.
  const { rows: there } = await client.query("select from pg_namespace where nspname = 'holdfast'");
  if (there.length === 0) await client.query("create schema if not exists holdfast");
  await client.query(
    "create table if not exists holdfast.migration (name text primary key, applied_at timestamptz not null default clock_timestamp())",
  );
  const { rows } = await client.query<{ name: string }>("select name from holdfast.migration");
  const applied = new Set(rows.map(({ name }) => name));
  const known = await shipped(folder);
  const newer = [...applied].filter((name) => !known.includes(name)).sort();
  if (newer.length > 0)
    throw new NewerDatabase(
      `DATABASE_URL: the database belongs to a later version of Holdfast (it has ${newer.join(", ")}). Start that version, or a later one.`,
    );
  const missing = known.filter((name) => !applied.has(name));
  for (const name of missing) {
    const sql = await readFile(new URL(name, folder), "utf8");
    await client.query("begin");
    await client.query(sql);
    await client.query("insert into holdfast.migration (name) values ($1)", [name]);
    await client.query("commit");
  }
  return missing;
}

/** On a connection of its own: the other one may be in a transaction that has failed. */
async function missingRight(url: string, message: string): Promise<MissingRight> {
  const client = await connectTo(url, session);
  try {
    const { rows } = await client.query<{ role: string; owner: string | null }>(
      `select format('%I', current_user) as role,
        (select format('%I', pg_get_userbyid(nspowner)) from pg_namespace where nspname = 'holdfast') as owner`,
    );
    const { role = "", owner = null } = rows[0] ?? {};
    return new MissingRight(
      owner === null
        ? `DATABASE_URL: the role ${role} cannot create the schema holdfast (${message}): run "create schema holdfast authorization ${role}" as the owner of the database.`
        : `DATABASE_URL: the role ${role} lacks a right on the schema holdfast, which ${owner} owns (${message}): connect as ${owner}, or run "grant ${owner} to ${role}".`,
    );
  } finally {
    await client.end();
  }
}

const shipped = async (folder: URL): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
