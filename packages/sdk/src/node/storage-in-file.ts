import type { LogRow, RowChange } from "../core/log/rows.ts";
import { tableOf } from "../core/log/tables.ts";
import type { ExpectedSlot, Mutation, QueueChange, Slot } from "../core/queue/mutation.ts";
import type { Enqueued, Kept, Seen, Storage, StoredLogRange, StoredPage, StoredQueue } from "../engine/ports.ts";
import {
  bringsNews,
  fromStored,
  fromStoredRows,
  hasNews,
  isContinuedBy,
  ownedBy,
  type StoredMutation,
  storedPhase,
  storedRow,
  toStored,
} from "../storage/stored.ts";
import { fileFailure, isDamage } from "./file-failure.ts";
import type { StoreFile } from "./store-file.ts";

interface StoreRow {
  readonly client_id: string | null;
  readonly owner: string | null;
  readonly others: number;
  readonly record_bytes: number | null;
  readonly generation: number;
  readonly changes: number;
  readonly log_id: string | null;
  readonly rows_version: number | null;
  readonly view_hash: string | null;
  readonly position: number | null;
  readonly at: number | null;
  readonly stamp: number | null;
  readonly cursor: string | null;
  readonly scope: string | null;
}

/**
 * Queue, rows and client id in one file. Writes of the app are durable when they are reported as such. Data that can be
 * read from the server again is written without waiting for the disk.
 */
export function storageInFile(file: StoreFile): Storage {
  const sql = statements(file);

  // Reads all rows, like every statement here: an unfinished statement would keep the file locked after `close`.
  const store = () => sql.store.all()[0] as StoreRow;
  /** Does the work unless another client leads by now. The check runs in the same transaction as the work. */
  const fenced = async <T>(generation: number, work: () => T): Promise<T | "fenced"> =>
    file.transaction("relaxed", () => (store().generation === generation ? work() : "fenced"));

  const queue = (): Mutation[] =>
    (sql.queue.all() as [number, string][]).map(([seq, text]) =>
      fromStored({ ...(JSON.parse(text) as StoredMutation), seq }),
    );

  /** The stored rows, or the stored part of a snapshot. */
  function rows(known: StoreRow) {
    const found = (sql.records.all() as [string, string, string][]).map(([model, id, text]) =>
      storedRow(model, id, JSON.parse(text) as LogRow),
    );
    return fromStoredRows(found, metaOf(known));
  }

  function change(changes: readonly RowChange[]): void {
    for (const { record, value } of changes)
      if (value) sql.put.run(tableOf(record.model), record.id, JSON.stringify(value));
      else sql.remove.run(tableOf(record.model), record.id);
  }

  const lastSeq = () => Number((sql.lastSeq.all()[0] as [number] | undefined)?.[0] ?? 0);

  const wholeQueue = ({ changes, generation }: StoreRow) => ({
    mutations: queue(),
    changes,
    generation,
    lastSeq: lastSeq(),
  });

  function snapshotFor(known: StoreRow, seen: Seen): StoredQueue {
    const isNews = hasNews(metaOf(known), seen);
    return { ...wholeQueue(known), rows: isNews ? rows(known).rows : undefined };
  }

  function changed(places: readonly unknown[]): Kept {
    if (places.length === 0) return { change: undefined };
    sql.changed.run();
    return { change: store().changes };
  }

  function forget(places: readonly Slot[]): Kept {
    for (const { seq, clientTxId } of places) sql.forget.run(seq, clientTxId);
    return changed(places);
  }

  const holds = ({ seq, clientTxId, phase }: ExpectedSlot): boolean => {
    const [text] = (sql.at.all(seq, clientTxId)[0] ?? []) as [string?];
    return text !== undefined && storedPhase(JSON.parse(text) as StoredMutation) === phase;
  };

  function enqueue(changes: readonly QueueChange[]): Enqueued {
    const taken: ExpectedSlot[] = [];
    const places = changes.map(({ put, drop }) => {
      const expected = [...put.flatMap(({ over }) => over ?? []), ...drop];
      if (!expected.every(holds)) return "refused";
      taken.push(...expected);
      for (const { seq, clientTxId } of drop) sql.forget.run(seq, clientTxId);
      return put.map(({ mutation }) => {
        const { lastInsertRowid } = sql.add.run(mutation.seq ?? null, mutation.clientTxId, textOf(mutation));
        return mutation.seq ?? Number(lastInsertRowid);
      });
    });
    return { places, ...changed(taken) };
  }

  function keepRows(range: StoredLogRange): Kept | "gap" {
    const kept = metaOf(store());
    if (!isContinuedBy(kept, range)) return "gap";
    const { position = 0 } = kept;
    if (bringsNews(range, kept)) {
      change(range.changes);
      sql.reached.run(Math.max(position, range.to), range.scope ?? null, range.at ?? kept.at ?? null);
    }
    return forget(range.settled);
  }

  function keepPage({
    logId,
    rowsVersion,
    viewHash,
    stamp,
    first,
    changes,
    scope,
    at,
    cursor,
  }: StoredPage): "kept" | "gap" {
    const known = store();
    const isSame = known.log_id === logId && known.stamp === stamp && known.position === null;
    if (!first && !isSame) return "gap";
    if (first) sql.clear.run();
    change(changes);
    const seen = [logId, rowsVersion ?? null, viewHash ?? null] as const;
    if (cursor === null) sql.snapshot.run(...seen, stamp, null, null, scope ?? null, at ?? null);
    else sql.snapshot.run(...seen, null, stamp, cursor, scope ?? null, at ?? null);
    return "kept";
  }

  /** An error while reading may mean that the file is damaged. Then it is set aside before anything is built on it. */
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
        const { client_id: clientId, owner } = known;
        return {
          clientId: clientId ?? freshClientId,
          owner: owner ?? undefined,
          others: known.others > 0,
          recordBytes: known.record_bytes ?? undefined,
          ...wholeQueue(known),
          ...rows(known),
        };
      }),

    enqueue: async (changes) => file.transaction("strict", () => enqueue(changes)),

    takeLead: async (seen) =>
      file.transaction("relaxed", () => {
        sql.lead.run();
        return snapshotFor(store(), seen);
      }),

    readQueue: async (seen) => reading(() => snapshotFor(store(), seen)),

    keep: async (mutations, generation) => {
      const done = await fenced(generation, () => {
        const kept = mutations.filter((m) => m.seq !== undefined);
        for (const m of kept) sql.keep.run(textOf(m), m.seq ?? 0, m.clientTxId);
        return changed(kept);
      });
      // Such a change is rare, and may have removed the values of an erased record.
      if (done !== "fenced") file.foldLog();
      return done;
    },

    forget: (places, generation) => fenced(generation, () => forget(places)),

    keepRows: async (range, generation) => {
      const done = await fenced(generation, () => keepRows(range));
      if (range.changes.some(({ erased }) => erased)) file.foldLog();
      return done;
    },

    keepPage: (page, generation) => fenced(generation, () => keepPage(page)),

    own: async (owner, instead) =>
      file.transaction("strict", () => {
        const before = store();
        const owned = ownedBy({ owner: before.owner ?? undefined, others: before.others > 0 }, owner, instead);
        sql.own.run(owned.owner, owned.others ? 1 : 0);
        return owned.owner;
      }),

    keepRecordBytes: async (recordBytes) =>
      file.transaction("relaxed", () => void sql.recordBytes.run([recordBytes ?? null])),

    close: async () => file.close(),

    destroy: async () => file.destroy(),
  };
}

/** What the other storages leave out is null in SQLite. */
const metaOf = ({ log_id, rows_version, view_hash, position, at, stamp, cursor, scope }: StoreRow) => ({
  ...(log_id !== null && { logId: log_id }),
  ...(rows_version !== null && { rowsVersion: rows_version }),
  ...(view_hash !== null && { viewHash: view_hash }),
  ...(position !== null && { position }),
  ...(at !== null && { at }),
  ...(stamp !== null && { stamp }),
  ...(cursor !== null && { cursor }),
  ...(scope !== null && { scope }),
});

/** Leaves out `seq`, which is the key. */
function textOf(mutation: Mutation): string {
  const { seq: _, ...stored } = toStored(mutation);
  return JSON.stringify(stored);
}

function statements(file: StoreFile) {
  const { db, path } = file;
  try {
    return {
      store: db.prepare("select * from store"),
      name: db.prepare<[string]>("update store set client_id = ?"),
      own: db.prepare<[string, number]>("update store set owner = ?, others = ?"),
      // In a list: the library takes a null that is alone for an object.
      recordBytes: db.prepare<[[number | null]]>("update store set record_bytes = ?"),
      lead: db.prepare("update store set generation = generation + 1"),
      reached: db.prepare<[number, string | null, number | null]>("update store set position = ?, scope = ?, at = ?"),
      snapshot: db.prepare<
        [
          ...[string, number | null, string | null, number | null],
          ...[number | null, string | null, string | null, number | null],
        ]
      >(
        "update store set log_id = ?, rows_version = ?, view_hash = ?, position = ?, stamp = ?, cursor = ?, scope = ?, at = ?",
      ),
      changed: db.prepare("update store set changes = changes + 1"),
      lastSeq: db.prepare("select seq from sqlite_sequence where name = 'mutation'").raw(),
      at: db.prepare<[number, string]>("select stored from mutation where seq = ? and name = ?").raw(),
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
  } catch (error) {
    // The tables were deleted by someone else.
    file.close();
    throw fileFailure(path, error);
  }
}
