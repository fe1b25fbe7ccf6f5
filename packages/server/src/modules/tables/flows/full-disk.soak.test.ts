import { chownSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import { startEmbeddedPostgres } from "../../../embedded-postgres/embedded-postgres.ts";
import { type LogEntry, startWithTables } from "../../../testing/attached-tables.ts";
import { fillDisk, makeReadOnly, mountDisk } from "../../../testing/small-disk.ts";
import { wholeLog } from "../../../testing/whole-log.ts";
import { verifyTable } from "./verify-table.ts";

/** All of this Postgres is on it. */
const small = mountDisk(160);
const postgres =
  small &&
  (await startEmbeddedPostgres({
    dataDir: join(small, "data"),
    // Tests have no patience for the usual amount of WAL.
    settings: { shared_buffers: "16MB", min_wal_size: "32MB", max_wal_size: "32MB" },
  }));
if (postgres) afterAll(() => postgres.stop());
const tablesThere = postgres && (await startWithTables({ databaseUrl: postgres.url }));

const tables = await startWithTables();
const { app, db, pool, tenant, key, create, update } = tables;

const NEEDS_ROOT = "mounting a disk needs root";

/** Is not compressed in a table whose column says so: it needs room. */
const LONG = "x".repeat(100_000);

type Tables = Awaited<ReturnType<typeof startWithTables>>;

/** A table that stores texts as they are, attached. Returns its model. */
async function longTextTable({ db, attach }: Tables, name: string, tablespace = "pg_default"): Promise<string> {
  await db.query(`create table public.${name} (id text primary key, title text) tablespace ${tablespace};
    alter table public.${name} alter column title set storage external`);
  return (await attach(`public.${name}`, { title: {} })).model;
}

/** Ends with `written`, or Postgres' code of what stood against it. */
const stateOf = ({ pool }: Tables, text: string, values: readonly string[] = []): Promise<string> =>
  pool.query(text, [...values]).then(
    () => "written",
    (error: { code?: string }) => error.code ?? "cut",
  );

/**
 * Clients and SQL write rows to a table, each until it is written, while the disk is full; then there is room. Afterwards
 * the log has each of them once, as their writers named them.
 */
async function expectWrittenOnce(
  tables: Tables,
  disk: string,
  model: string,
  whileFull: () => Promise<void> = async () => {},
): Promise<void> {
  const { app, key } = tables;
  const refused = { api: 0, sql: 0 };
  const keys = new Map<string, string>();
  const writeByApi = async (id: string) => {
    const sent = { key: key(), json: { id, data: { title: LONG } } };
    keys.set(sent.key, id);
    await until(async () => {
      const { status, body } = await app.call("POST", `/v1/models/${model}`, sent);
      if (status !== 200) refused.api++;
      expect([status, body.code]).toEqual([200, undefined]);
    });
  };
  const writeBySql = (id: string) =>
    until(async () => {
      const said = await stateOf(tables, `insert into public.${model} values ($1, $2)`, [id, LONG]);
      if (said !== "written") refused.sql++;
      // The connection may have been cut after the row was committed: then it is there.
      expect(["written", "23505"]).toContain(said);
    });
  const makeRoom = fillDisk(disk);
  const numbers = Array.from({ length: 20 }, (_, i) => i);
  const writers = numbers.flatMap((i) => [writeByApi(`api-${i}`), writeBySql(`sql-${i}`)]);
  await until(() => expect(Math.min(refused.api, refused.sql)).toBeGreaterThan(5));
  await whileFull();
  makeRoom();
  await Promise.all(writers);
  const made = async () =>
    ((await wholeLog(app.call)) as unknown as LogEntry[]).filter((entry) => entry.model === model);
  await until(async () => expect((await made()).length).toBeGreaterThanOrEqual(2 * numbers.length));
  const log = await made();
  const spelled = log.map(({ verb, id }) => `${verb} ${id}`).sort();
  expect(spelled).toEqual(numbers.flatMap((i) => [`created api-${i}`, `created sql-${i}`]).sort());
  for (const { clientTxId, id } of log) if (id.startsWith("api")) expect(keys.get(clientTxId)).toBe(id);
}

/** A folder on a disk of its own in which Postgres may put tables. */
async function tablespaceOn(disk: string, name: string): Promise<string> {
  const folder = join(disk, "tables");
  mkdirSync(folder);
  const [{ data_directory } = { data_directory: "" }] = await app.sql<{ data_directory: string }>(
    "show data_directory",
  );
  const { uid, gid } = statSync(data_directory);
  chownSync(folder, uid, gid);
  await db.query(`create tablespace ${name} location '${folder}'`);
  return folder;
}

const same = async (model: string, count: number) => {
  await until(async () =>
    expect(await app.sql("select from holdfast.captured_change where tenant = $1 limit 1", [tenant])).toEqual([]),
  );
  expect(await verifyTable(pool, tenant, model)).toMatchObject({ rows: count, extra: 0, different: 0 });
};

test("[DS76] [DS119] while the disk of a table is full, only writes that need room there are refused", async ({
  skip,
}) => {
  const disk = mountDisk(16) ?? skip(NEEDS_ROOT);
  await tablespaceOn(disk, "of_table");
  const model = await longTextTable(tables, "filling", "of_table");
  expect((await create(model, "a", { title: "One" })).status).toBe(200);
  const makeRoom = fillDisk(disk);
  const sent = { key: key(), json: { id: "b", data: { title: LONG } } };
  const full = await app.call("POST", `/v1/models/${model}`, sent);
  expect([full.status, full.body.code]).toEqual([503, "storage_full"]);
  expect(await stateOf(tables, "insert into public.filling values ('c', $1)", [LONG])).toBe("53100");
  expect((await update(model, "a", { title: "Two" })).status).toBe(200);
  expect((await create("document", "d", { title: "elsewhere" })).status).toBe(200);
  expect((await app.call("GET", `/v1/models/${model}/b`)).status).toBe(404);
  makeRoom();
  expect((await app.call("POST", `/v1/models/${model}`, sent)).status).toBe(200);
  expect(await stateOf(tables, "insert into public.filling values ('c', $1)", [LONG])).toBe("written");
  await same(model, 3);
});

test("[DS76] a read-only disk of a table refuses no write for good, and the tenant's other models go on", async ({
  skip,
}) => {
  const disk = mountDisk(16) ?? skip(NEEDS_ROOT);
  const folder = await tablespaceOn(disk, "of_readonly");
  const model = await longTextTable(tables, "kept", "of_readonly");
  expect((await create(model, "a", { title: "One" })).status).toBe(200);
  const makeWritable = makeReadOnly(folder);
  // The server's connections have the files open; new ones have not.
  await app.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'test'",
  );
  await until(async () => expect((await create("document", "e", { title: "elsewhere" })).status).toBe(200));
  const sent = { key: key(), json: { id: "b", data: { title: "Two" } } };
  expect((await app.call("POST", `/v1/models/${model}`, sent)).status).toBe(503);
  expect((await app.call("GET", `/v1/models/${model}/a`)).status).toBe(503);
  const caller = await app.connect();
  await expect(caller.query("insert into kept values ('c', 'Three')")).rejects.toThrow("Read-only file system");
  makeWritable();
  expect((await app.call("POST", `/v1/models/${model}`, sent)).status).toBe(200);
  await caller.query("insert into kept values ('c', 'Three')");
  await caller.end();
  await same(model, 3);
});

test("[DS76] [DS120] if the disk of the log fills up while clients and SQL write, nothing is lost or doubled once there is room", async ({
  skip,
}) => {
  const disk = mountDisk(32) ?? skip(NEEDS_ROOT);
  await tablespaceOn(disk, "of_log");
  const model = await longTextTable(tables, "logged");
  const { rows: ours } = await pool.query<{ name: string }>(
    "select c.oid::regclass::text as name from pg_class c where relnamespace = 'holdfast'::regnamespace and relkind in ('r', 'i')",
  );
  for (const { name } of ours) await pool.query(`alter table ${name} set tablespace of_log`);
  await expectWrittenOnce(tables, disk, model);
  await same(model, 40);
});

test("[DS76] [DS120] if all of Postgres is on the disk that fills up, it is started again, and nothing is lost or doubled", async ({
  skip,
}) => {
  if (!small || !postgres || !tablesThere) return skip(NEEDS_ROOT);
  const model = await longTextTable(tablesThere, "logged");
  const { pid } = postgres;
  await expectWrittenOnce(tablesThere, small, model, () =>
    until(async () => {
      // Postgres ends when there is no room for the next file of WAL.
      await stateOf(tablesThere, "select pg_switch_wal() from pg_logical_emit_message(true, '', '')");
      expect(postgres.pid).not.toBe(pid);
    }),
  );
  expect(await verifyTable(tablesThere.pool, tablesThere.tenant, model)).toMatchObject({
    rows: 40,
    extra: 0,
    different: 0,
  });
});
