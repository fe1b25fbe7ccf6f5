import type { Place } from "../core/events.ts";
import type { Mutation } from "../core/mutation.ts";
import type { LogRow, RowChange, Rows } from "../core/rows.ts";
import { changeTables, tableOf } from "../core/tables.ts";
import { fromStored, type StoredMutation, toStored } from "../storage/stored.ts";
import type { Storage, StoredPage, StoredStretch } from "./coming-port.ts";
import { isDamage } from "./file-failure.ts";
import type { StoreFile } from "./store-file.ts";

interface StoreRow {
  readonly client_id: string | null;
  readonly generation: number;
  readonly log_id: string | null;
  readonly position: number | null;
  readonly page_log_id: string | null;
  readonly page_stamp: number | null;
  readonly page_cursor: string | null;
}

/**
 * Queue, rows and name in one file. What a person wrote is on the disk when it is said to be; what only copies the
 * server, or can be found out from it again, is written without waiting for the disk.
 */
export function storageInFile(file: StoreFile): Storage {
  const { db } = file;
  const sql = {
    store: db.prepare("select * from store"),
    name: db.prepare<[string]>("update store set client_id = ?"),
    lead: db.prepare("update store set generation = generation + 1"),
    log: db.prepare<[string | null, number | null]>(
      "update store set log_id = ?, position = ?, page_log_id = null, page_stamp = null, page_cursor = null",
    ),
    page: db.prepare<[string, number, string]>(
      "update store set log_id = null, position = null, page_log_id = ?, page_stamp = ?, page_cursor = ?",
    ),
    queue: db.prepare("select seq, stored from mutation order by seq").raw(),
    add: db.prepare<[number | null, string, string]>(
      "insert or replace into mutation (seq, name, stored) values (?, ?, ?)",
    ),
    keep: db.prepare<[string, number, string]>("update mutation set stored = ? where seq = ? and name = ?"),
    forget: db.prepare<[number, string]>("delete from mutation where seq = ? and name = ?"),
    records: db.prepare("select model, id, stored from record").raw(),
    put: db.prepare<[string, string, string]>("insert or replace into record (model, id, stored) values (?, ?, ?)"),
    remove: db.prepare<[string, string]>("delete from record where model = ? and id = ?"),
    clear: db.prepare("delete from record"),
  };

  // Read to its end, as every statement here: one that was not would keep the file locked after `close`.
  const store = () => sql.store.all()[0] as StoreRow;
  const isDeposed = (generation: number | undefined) => generation !== undefined && store().generation !== generation;

  const queue = (): Mutation[] =>
    (sql.queue.all() as [number, string][]).map(([seq, text]) =>
      fromStored({ ...(JSON.parse(text) as StoredMutation), seq }),
    );

  function rows({ log_id: logId, position }: StoreRow): Rows {
    if (logId === null || position === null) return { tables: {}, logId: undefined, position: undefined };
    return { tables: changeTables({}, records()), logId, position };
  }

  const records = (): RowChange[] =>
    (sql.records.all() as [string, string, string][]).map(([model, id, text]) => ({
      record: { model, id },
      value: JSON.parse(text) as LogRow,
    }));

  function change(changes: readonly RowChange[]): void {
    for (const { record, value } of changes)
      if (value) sql.put.run(tableOf(record.model), record.id, JSON.stringify(value));
      else sql.remove.run(tableOf(record.model), record.id);
  }

  function forget(places: readonly Place[]): void {
    for (const { seq, clientTxId } of places) sql.forget.run(seq, clientTxId);
  }

  function keepRows({ logId, from, to, changes, settled }: StoredStretch): "kept" | "gap" {
    const { log_id: known, position } = store();
    if (known !== logId || position === null || position < from) return "gap";
    if (position < to) {
      change(changes);
      sql.log.run(logId, to);
    }
    forget(settled);
    return "kept";
  }

  function keepPage({ logId, stamp, first, changes, cursor }: StoredPage): void {
    if (first) sql.clear.run();
    change(changes);
    if (cursor === null) sql.log.run(logId, stamp);
    else sql.page.run(logId, stamp, cursor);
  }

  /** What was read may be what only a damaged file holds: then it is put aside before anything is built on it. */
  function reading<T>(work: () => T): T {
    try {
      return file.transaction("relaxed", work);
    } catch (error) {
      if (error instanceof Error && isDamage(error.cause)) throw file.setAside(error.cause);
      throw error;
    }
  }

  return {
    open: async (freshClientId) =>
      reading(() => {
        const known = store();
        if (known.client_id === null) sql.name.run(freshClientId);
        const { page_log_id: logId, page_stamp: stamp, page_cursor: cursor } = known;
        return {
          clientId: known.client_id ?? freshClientId,
          rows: rows(known),
          mutations: queue(),
          ...(logId !== null && stamp !== null && cursor !== null && { partial: { logId, stamp, cursor } }),
        };
      }),

    enqueue: async (mutations) =>
      file.transaction("strict", () =>
        mutations.map((mutation) => {
          const { clientTxId, seq } = mutation;
          const { lastInsertRowid } = sql.add.run(seq ?? null, clientTxId, textOf(mutation));
          return { clientTxId, seq: seq ?? Number(lastInsertRowid) };
        }),
      ),

    lead: async () =>
      file.transaction("relaxed", () => {
        sql.lead.run();
        return { generation: store().generation, mutations: queue() };
      }),

    keep: async (mutations, generation) =>
      file.transaction("relaxed", () => {
        if (isDeposed(generation)) return "deposed";
        for (const m of mutations) if (m.seq !== undefined) sql.keep.run(textOf(m), m.seq, m.clientTxId);
        return "kept";
      }),

    forget: async (places, generation) =>
      file.transaction("relaxed", () => {
        if (isDeposed(generation)) return "deposed";
        forget(places);
        return "kept";
      }),

    keepRows: async (stretch, generation) =>
      file.transaction("relaxed", () => (isDeposed(generation) ? "deposed" : keepRows(stretch))),

    keepPage: async (page, generation) =>
      file.transaction("relaxed", () => {
        if (isDeposed(generation)) return "deposed";
        keepPage(page);
        return "kept";
      }),

    readRows: async () => reading(() => rows(store())),

    close: async () => file.close(),
  };
}

/** Without its place, which is the key. */
function textOf(mutation: Mutation): string {
  const { seq: _, ...stored } = toStored(mutation);
  return JSON.stringify(stored);
}
