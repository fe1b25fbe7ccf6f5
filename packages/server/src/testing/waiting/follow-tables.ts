import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import type { Database } from "../../kernel/connection/pool.ts";
import { readAttachments } from "../../modules/tables/db/attachments.ts";
import { findTable, readTableRows } from "../../modules/tables/db/table-rows.ts";
import type { AttachedTable } from "../../modules/tables/rules/attached-table.ts";
import { readRowImage } from "../../modules/tables/rules/row-image.ts";
import type { App } from "../app.ts";
import type { LogEntry, startWithTables } from "../attached-tables.ts";
import { wholeLog } from "../whole-log.ts";

/** Records by id. */
type Records = Map<string, Readonly<Record<string, unknown>>>;

/** A commit of the log, with its entries in words: `created notes/1 title=One`, `updated notes/1 title=Two`. */
export interface FollowedCommit {
  /** `system:database` */
  readonly by: string;
  readonly name: string;
  readonly entries: readonly string[];
}

export interface FollowedTables {
  /**
   * The commits since the last call that changed these models, once all that was captured is in the log. Each must stand
   * in one piece, and each of its entries must fit what the log said of its record before.
   */
  commits(): Promise<readonly FollowedCommit[]>;
  /** The same, if all of them are transactions in SQL: their entries. */
  bySql(): Promise<(readonly string[])[]>;
  /** The rows of each table are what a list, a snapshot, and the replay of the log on the first snapshot have. */
  expectEqual(): Promise<void>;
}

/** A short page first, so that small tables have several. */
const pageSize = (cursor: string) => (cursor === "" ? 3 : 100);

/** Runs statements that create tables, attaches those, and follows them. */
export async function attachAndFollow(
  tables: Awaited<ReturnType<typeof startWithTables>>,
  statements: string,
  columns: Readonly<Record<string, Parameters<typeof tables.attach>[1]>>,
): Promise<FollowedTables> {
  await tables.db.query(statements);
  const models: string[] = [];
  for (const [table, fields] of Object.entries(columns))
    models.push((await tables.attach(`public.${table}`, fields)).model);
  return followTables(tables, models);
}

/** Follows the tables of these models from now on. Nothing may write them meanwhile. */
export async function followTables(
  { app, pool, tenant }: { readonly app: App; readonly pool: Database; readonly tenant: number },
  models: readonly string[],
): Promise<FollowedTables> {
  const { call } = app;
  const collected = () =>
    until(async () => (await app.sql("select from holdfast.captured_change limit 1")).length === 0);
  await collected();
  const replayed = new Map<string, Records>();
  for (const model of models) replayed.set(model.toLowerCase(), await readSnapshot(model));
  let seen = (await wholeLog(call)).length;

  async function readSnapshot(model: string): Promise<Records> {
    const records: Records = new Map();
    for (let cursor = ""; ; ) {
      const { status, text } = await call("GET", `/v1/snapshot?model=${model}&limit=${pageSize(cursor)}${cursor}`);
      expect(status, text).toBe(200);
      const lines = text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      for (const { id, data } of lines.slice(1, -1)) records.set(id, data);
      const { next_cursor: next } = lines.at(-1);
      if (next === null) return records;
      cursor = `&starting_after=${encodeURIComponent(next)}`;
    }
  }

  async function readList(model: string): Promise<Records> {
    const records: Records = new Map();
    for (let cursor = ""; ; ) {
      const { status, text, body } = await call("GET", `/v1/models/${model}?limit=${pageSize(cursor)}${cursor}`);
      expect(status, text).toBe(200);
      for (const record of body.data as { id: string }[]) records.set(record.id, record);
      if (body.next_cursor === null) return records;
      cursor = `&starting_after=${encodeURIComponent(String(body.next_cursor))}`;
    }
  }

  async function readTable(table: AttachedTable): Promise<Records> {
    const found = await findTable(pool, table);
    if (!found) throw new Error(`${table.name} is gone.`);
    const rows = await readTableRows(pool, table, found, null, Number.MAX_SAFE_INTEGER);
    return new Map(
      rows.map((row) => {
        const { id = "", data } = readRowImage(row, table);
        return [id, { id, ...data }];
      }),
    );
  }

  async function commits(): Promise<FollowedCommit[]> {
    await collected();
    const log = (await wholeLog(call)).slice(seen) as unknown as (LogEntry & { participantKind: string })[];
    seen += log.length;
    const found: { by: string; name: string; entries: string[] }[] = [];
    for (const entry of log) {
      const { clientTxId: name, participantKind, actor } = entry;
      const records = replayed.get(entry.model.toLowerCase());
      if (!records) continue;
      if (found.at(-1)?.name !== name) {
        expect(found.map((one) => one.name)).not.toContain(name);
        found.push({ by: `${participantKind}:${actor}`, name, entries: [] });
      }
      found.at(-1)?.entries.push(replay(records, entry));
    }
    return found;
  }

  return {
    commits,
    async bySql() {
      const all = await commits();
      for (const { by, name } of all) {
        expect(by).toBe("system:database");
        expect(name).toMatch(/^database_\d+$/);
      }
      return all.map(({ entries }) => entries);
    },
    async expectEqual() {
      await commits();
      const attached = await readAttachments(pool, tenant);
      for (const model of models) {
        const table = attached.find((one) => one.model === model.toLowerCase());
        if (!table) throw new Error(`${model} has no table.`);
        const rows = inOrder(await readTable(table));
        expect(inOrder(await readList(model)), `the list of ${model}`).toEqual(rows);
        expect(inOrder(await readSnapshot(model)), `the snapshot of ${model}`).toEqual(rows);
        expect(inOrder(replayed.get(table.model) ?? new Map()), `the replay of ${model}`).toEqual(rows);
      }
    },
  };
}

/** Applies an entry to the records before it, and says what it does. */
function replay(records: Records, { model, id, verb, data, changedFields, syncId }: LogEntry): string {
  const before = records.get(id);
  const name = `${verb} ${model}/${id}`;
  const told = `${syncId}: ${name}`;
  if (verb === "deleted") {
    expect(before, told).toBeDefined();
    records.delete(id);
    return name;
  }
  const values = data ?? {};
  expect(before === undefined ? "created" : "updated", told).toBe(verb);
  const changed = changedFields ?? Object.keys(values).filter((field) => field !== "id" && values[field] !== null);
  // It may name more: see DS97.
  const differing = Object.keys(values).filter((field) => before && !isDeepStrictEqual(before[field], values[field]));
  expect(changed, told).toEqual(expect.arrayContaining(differing));
  records.set(id, values);
  return [name, ...changed.map((field) => `${field}=${inWords(values[field])}`)].join(" ");
}

const inWords = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const inOrder = (records: Records) => [...records.values()].toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1));
