import { Dexie, type Table } from "dexie";
import type { Mutation, Place } from "../core/mutation.ts";
import type { RowChange } from "../core/rows.ts";
import type { StorageTrouble } from "../core/state.ts";
import {
  type Fenced,
  type Storage,
  StorageFailure,
  type Stored,
  type StoredPage,
  type StoredStretch,
} from "../engine/ports.ts";
import {
  fromStored,
  fromStoredRows,
  type StoredMeta,
  type StoredMutation,
  type StoredRow,
  storedRow,
  toStored,
} from "./stored.ts";

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
  /** How long an open may take before it counts as blocked. Default 10 000. */
  readonly openMs?: number;
}

/** Storage that survives a reload, shared by all tabs of a browser profile. */
export function indexedDbStorage({ name, openMs = OPEN_MS }: IndexedDbOptions): Storage {
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
        await opened(db, openMs);
        return await work(db);
      } catch (second) {
        throw failure(second);
      }
    }
  }

  return {
    open: (freshClientId) =>
      withDatabase(async (db): Promise<Stored> => {
        await opened(db, openMs);
        return db.transaction("rw", db.meta, db.rows, db.mutations, async () => {
          const client = await db.meta.get("client");
          if (!client) await db.meta.put({ key: "client", clientId: freshClientId });
          const [rows, log, mutations] = [await db.rows.toArray(), await db.meta.get("log"), await readQueue(db)];
          const { clientId = freshClientId, owner } = client ?? {};
          return { clientId, owner, mutations, ...fromStoredRows(rows, log) };
        });
      }),

    enqueue: (mutations) => withDatabase((db) => enqueue(db, mutations)),

    lead: () =>
      withDatabase((db) =>
        db.transaction("rw", db.meta, db.mutations, async () => {
          const generation = ((await db.meta.get("lead"))?.generation ?? 0) + 1;
          await db.meta.put({ key: "lead", generation });
          return { generation, mutations: await readQueue(db) };
        }),
      ),

    keep: (mutations, generation) =>
      withDatabase((db) =>
        fenced(db, generation, async () => {
          const kept = mutations.filter((m) => m.seq !== undefined);
          const there = await db.mutations.bulkGet(kept.map((m) => m.seq ?? 0));
          await db.mutations.bulkPut(kept.filter((m, i) => there[i]?.clientTxId === m.clientTxId).map(toStored));
          return "kept" as const;
        }),
      ),

    forget: (places, generation) => withDatabase((db) => fenced(db, generation, () => forget(db, places))),

    keepRows: (stretch, generation) => withDatabase((db) => keepRows(db, stretch, generation)),

    keepPage: (page, generation) => withDatabase((db) => keepPage(db, page, generation)),

    readRows: () =>
      withDatabase((db) =>
        db.transaction("r", db.rows, db.meta, async () => {
          const [rows, log] = [await db.rows.toArray(), await db.meta.get("log")];
          return fromStoredRows(rows, log).rows;
        }),
      ),

    own: (participant) =>
      withDatabase((db) =>
        db.transaction("rw", db.meta, async () => {
          const client = (await db.meta.get("client")) ?? { key: "client" as const };
          const owner = client.owner ?? participant;
          await db.meta.put({ ...client, owner });
          return owner;
        }),
      ),

    close: async () => db.close(),

    destroy: () => withDatabase((db) => db.delete()),
  };
}

/** Does the work if nobody else leads by now: asked in the transaction that does it, so that nothing comes between. */
function fenced<T extends Fenced | "gap">(
  db: Database,
  generation: number | undefined,
  work: () => Promise<T>,
): Promise<T | "deposed"> {
  return db.transaction("rw", db.mutations, db.rows, db.meta, async () => {
    const isLed = generation === undefined || (await db.meta.get("lead"))?.generation === generation;
    return isLed ? work() : "deposed";
  });
}

async function forget(db: Database, places: readonly Place[]): Promise<"kept"> {
  const seqs = places.map(({ seq }) => seq);
  const there = await db.mutations.bulkGet(seqs);
  await db.mutations.bulkDelete(seqs.filter((_, i) => there[i]?.clientTxId === places[i]?.clientTxId));
  return "kept";
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

function keepRows(
  db: Database,
  { logId, from, to, changes, settled }: StoredStretch,
  generation: number,
): Promise<Fenced | "gap"> {
  return fenced(db, generation, async () => {
    const log = await db.meta.get("log");
    if (log?.logId !== logId || log.position === undefined || log.position < from) return "gap" as const;
    if (log.position < to) {
      await putRows(db, changes);
      await db.meta.put({ key: "log", logId, position: to });
    }
    return forget(db, settled);
  });
}

function keepPage(
  db: Database,
  { logId, stamp, first, changes, cursor }: StoredPage,
  generation: number,
): Promise<Fenced | "gap"> {
  return fenced(db, generation, async () => {
    const log = await db.meta.get("log");
    const isSame = log?.logId === logId && log.stamp === stamp && log.position === undefined;
    if (!first && !isSame) return "gap" as const;
    if (first) await db.rows.clear();
    await putRows(db, changes);
    await db.meta.put({ key: "log", logId, ...(cursor === null ? { position: stamp } : { stamp, cursor }) });
    return "kept" as const;
  });
}

async function putRows(db: Database, changes: readonly RowChange[]): Promise<void> {
  const kept = changes.flatMap(({ record, value }) => (value ? [storedRow(record.model, record.id, value)] : []));
  const gone = changes.filter((c) => c.value === undefined).map(({ record }) => keyOf(record.model, record.id));
  await db.rows.bulkPut(kept);
  if (gone.length > 0) await db.rows.bulkDelete(gone);
}

const keyOf = (model: string, id: string): [string, string] => [model.toLowerCase(), id];

/** An open that is blocked by another tab gives no event at all in some browsers: only a clock ends it. */
async function opened(db: Database, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    const blocked = new Error("It did not open; another tab may hold it.");
    blocked.name = "BlockedError";
    timer = setTimeout(() => reject(blocked), ms);
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

const CODES: Readonly<Record<string, StorageTrouble["code"]>> = {
  QuotaExceededError: "quota",
  BlockedError: "blocked",
  VersionError: "newer",
  MissingAPIError: "unavailable",
  SecurityError: "unavailable",
  NotFoundError: "damaged",
  DataError: "damaged",
  NotReadableError: "damaged",
  UnknownError: "damaged",
  InvalidStateError: "lost",
  DatabaseClosedError: "lost",
  AbortError: "lost",
};

function failure(error: unknown): StorageFailure {
  // Dexie wraps what the platform said.
  const inner = (error as { inner?: unknown } | undefined)?.inner;
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  const code = CODES[name] ?? CODES[(inner as Error | undefined)?.name ?? ""] ?? "failed";
  return new StorageFailure(`The local store failed (${name}: ${message}). Writes are kept in memory only.`, {
    cause: error,
    code,
  });
}
