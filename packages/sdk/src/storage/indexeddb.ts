import { Dexie, type Table } from "dexie";
import { nanoid } from "nanoid";
import type { Place } from "../core/events.ts";
import type { Mutation } from "../core/mutation.ts";
import type { Rows } from "../core/rows.ts";
import { type Storage, StorageFailure, type Stored, type StoredStretch } from "../engine/ports.ts";
import {
  fromStored,
  rowsFromStored,
  type StoredMeta,
  type StoredMutation,
  type StoredRow,
  storedRow,
  toStored,
} from "./stored.ts";

/** Rows of one transaction when all are replaced: a frozen tab must not hold the database for long. */
const CHUNK = 2_000;
const OPEN_MS = 10_000;

class Database extends Dexie {
  declare readonly mutations: Table<StoredMutation, number>;
  declare readonly rows: Table<StoredRow, [string, string]>;
  declare readonly meta: Table<StoredMeta, string>;

  constructor(name: string) {
    // What is only a copy of the log need not be forced to the disk; the queue asks for more, see `enqueue`.
    super(name, { chromeTransactionDurability: "relaxed" });
    this.version(1).stores({ mutations: "++seq", rows: "[model+id]", meta: "key" });
  }
}

export interface IndexedDbOptions {
  /** Databases are told apart by name: one per app, server and signed-in person. */
  readonly name: string;
}

/** Storage that survives a reload, shared by all tabs of a browser profile. */
export function indexedDbStorage({ name }: IndexedDbOptions): Storage {
  let db = new Database(name);

  /**
   * Safari loses open databases, and any handle may be closed under us. The work is tried once more on a fresh one;
   * it is safe to repeat because a transaction that failed has done nothing.
   */
  async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
    try {
      return await work(db);
    } catch (first) {
      if (!isLostHandle(first)) throw failure(first);
      db.close();
      db = new Database(name);
      try {
        await opened(db);
        return await work(db);
      } catch (second) {
        throw failure(second);
      }
    }
  }

  return {
    open: (freshClientId) =>
      withDatabase(async (db): Promise<Stored> => {
        await opened(db);
        return db.transaction("rw", db.meta, db.rows, db.mutations, async () => {
          const client = await db.meta.get("client");
          if (!client) await db.meta.put({ key: "client", clientId: freshClientId });
          const [rows, log, mutations] = [await db.rows.toArray(), await db.meta.get("log"), await readQueue(db)];
          return { clientId: client?.clientId ?? freshClientId, rows: rowsFromStored(rows, log), mutations };
        });
      }),

    enqueue: (mutations) => withDatabase((db) => enqueue(db, mutations)),

    keep: (mutations) =>
      withDatabase((db) =>
        db.transaction("rw", db.mutations, async () => {
          const kept = mutations.filter((m) => m.seq !== undefined);
          const there = await db.mutations.bulkGet(kept.map((m) => m.seq ?? 0));
          await db.mutations.bulkPut(kept.filter((_, i) => there[i] !== undefined).map(toStored));
        }),
      ),

    forget: (seqs) => withDatabase((db) => db.mutations.bulkDelete([...seqs])),

    readQueue: () => withDatabase(readQueue),

    keepRows: (stretch) => withDatabase((db) => keepRows(db, stretch)),

    keepSnapshot: (rows) => withDatabase((db) => keepSnapshot(db, rows)),

    close: async () => db.close(),
  };
}

const readQueue = async (db: Database): Promise<Mutation[]> =>
  (await db.mutations.orderBy("seq").toArray()).map(fromStored);

/**
 * Written with the platform's own transaction, because its durability is asked for one by one: "strict" waits until
 * the bytes are on the disk, not in a buffer. Resolves at `complete`: before it the writes can still be lost.
 */
function enqueue(db: Database, mutations: readonly Mutation[]): Promise<readonly Place[]> {
  return new Promise((resolve, reject) => {
    const transaction = db.backendDB().transaction(["mutations"], "readwrite", { durability: "strict" });
    const store = transaction.objectStore("mutations");
    const places: Place[] = [];
    for (const mutation of mutations) {
      const request = store.put(toStored(mutation));
      request.onsuccess = () => places.push({ clientTxId: mutation.clientTxId, seq: Number(request.result) });
    }
    transaction.oncomplete = () => resolve(places);
    transaction.onabort = () => reject(transaction.error ?? new Error("The transaction was given up."));
    transaction.commit?.();
  });
}

/** Every tab keeps what it reads; the position on disk tells which of them is first, and the others have nothing to do. */
function keepRows(db: Database, { logId, from, to, changes, settled }: StoredStretch): Promise<"kept" | "gap"> {
  return db.transaction("rw", db.rows, db.meta, db.mutations, async () => {
    const log = await db.meta.get("log");
    if (log?.logId !== logId || log.position === undefined || log.position < from) return "gap";
    if (log.position < to) {
      const kept = changes.flatMap(({ record, value }) => (value ? [storedRow(record.model, record.id, value)] : []));
      const gone = changes.filter((c) => c.value === undefined).map(({ record }) => keyOf(record.model, record.id));
      await db.rows.bulkPut(kept);
      await db.rows.bulkDelete(gone);
      await db.meta.put({ key: "log", logId, position: to });
    }
    await db.mutations.bulkDelete([...settled]);
    return "kept";
  });
}

/** In pieces. The position is taken away first and comes back last, so that half of a snapshot is never believed. */
async function keepSnapshot(db: Database, { tables, logId, position }: Rows): Promise<void> {
  if (logId === undefined || position === undefined) return;
  const replacing = nanoid();
  await db.transaction("rw", db.rows, db.meta, async () => {
    await db.meta.put({ key: "log", replacing });
    await db.rows.clear();
  });
  const rows = Object.entries(tables).flatMap(([model, table]) =>
    [...table.entries()].map(([id, row]) => storedRow(model, id, row)),
  );
  for (let at = 0; at <= rows.length; at += CHUNK) {
    const last = at + CHUNK > rows.length;
    const mine = await db.transaction("rw", db.rows, db.meta, async () => {
      // Another tab began after us: its rows are the newer ones.
      if ((await db.meta.get("log"))?.replacing !== replacing) return false;
      await db.rows.bulkPut(rows.slice(at, at + CHUNK));
      if (last) await db.meta.put({ key: "log", logId, position });
      return true;
    });
    if (!mine) return;
  }
}

const keyOf = (model: string, id: string): [string, string] => [model.toLowerCase(), id];

/** An open that is blocked by another tab gives no event at all in some browsers: only a clock ends it. */
async function opened(db: Database): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("The local store did not open; another tab may hold it.")), OPEN_MS);
  });
  try {
    await Promise.race([db.open(), tooLong]);
  } finally {
    clearTimeout(timer);
  }
}

const LOST = new Set(["InvalidStateError", "UnknownError", "DatabaseClosedError", "InvalidState", "AbortError"]);
function isLostHandle(error: unknown): boolean {
  return error instanceof Error && LOST.has(error.name);
}

function failure(error: unknown): StorageFailure {
  const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new StorageFailure(`The local store failed (${said}). Writes are kept in memory only.`, { cause: error });
}
