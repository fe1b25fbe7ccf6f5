import { Dexie, type Table } from "dexie";
import type { Mutation, Place } from "../core/mutation.ts";
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
  rowsInParts,
  type StoredMeta,
  type StoredMutation,
  type StoredPart,
  type StoredRow,
  storedChange,
  storedParts,
  toStored,
} from "./stored.ts";

const OPEN_MS = 10_000;

class Database extends Dexie {
  declare readonly mutations: Table<StoredMutation, number>;
  /** The last snapshot, and what the log said since. */
  declare readonly parts: Table<StoredPart, number>;
  declare readonly rows: Table<StoredRow, [string, string]>;
  declare readonly meta: Table<StoredMeta, string>;

  constructor(name: string) {
    // What is only a copy of the log need not be forced to the disk; the queue asks for more, see `enqueue`.
    super(name, { chromeTransactionDurability: "relaxed" });
    this.version(1).stores({ mutations: "++seq", rows: "[model+id]", meta: "key" });
    this.version(2).stores({ parts: "++n" });
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
  let openedAs: string | undefined;
  let lost: (failure: StorageFailure) => void = () => {};
  let closed = false;
  let db = newDatabase();

  /** Each time that the database is opened it has to be the one that it was: one that was emptied is opened like a new one. */
  function newDatabase(): Database {
    const made = new Database(name);
    let wasOpen = false;
    made.on(
      "ready",
      async (opened) => {
        if (openedAs !== undefined && (await clientIn(opened.backendDB())) !== openedAs) throw emptied();
        wasOpen = true;
      },
      true,
    );
    // Not by us: the browser clears what the site has stored, or another page deletes the database. It is looked at now and
    // not at the next write: what was said to be on disk may not be there any more.
    made.on("close", () => {
      if (!wasOpen || closed || made !== db) return;
      wasOpen = false;
      // The event comes before it is closed.
      queueMicrotask(() => {
        if (made === db) withDatabase((there) => opened(there, openMs)).catch((error: StorageFailure) => lost(error));
      });
    });
    return made;
  }

  /**
   * Safari loses open databases, and any handle may be closed under us. The work is tried once more on a fresh one;
   * it is safe to repeat because a transaction that failed has done nothing.
   */
  async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
    const before = db;
    try {
      return await work(before);
    } catch (first) {
      if (!isLostHandle(first)) throw failure(first);
      // Of several that lose the same one, the first opens the next for all.
      if (db === before) {
        db = newDatabase();
        before.close();
      }
      const next = db;
      try {
        await opened(next, openMs);
        return await work(next);
      } catch (second) {
        throw failure(second);
      }
    }
  }

  return {
    open: (freshClientId) =>
      withDatabase(async (db): Promise<Stored> => {
        await opened(db, openMs);
        return db.transaction("rw", db.meta, db.parts, db.rows, db.mutations, async () => {
          const client = await db.meta.get("client");
          if (!client) await db.meta.put({ key: "client", clientId: freshClientId });
          const { clientId = freshClientId, owner } = client ?? {};
          openedAs = clientId;
          return { clientId, owner, mutations: await readQueue(db), ...(await readRows(db)) };
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
      withDatabase((db) => db.transaction("r", db.parts, db.rows, db.meta, async () => (await readRows(db)).rows)),

    own: (participant) =>
      withDatabase((db) =>
        db.transaction("rw", db.meta, async () => {
          const client = (await db.meta.get("client")) ?? { key: "client" as const };
          const owner = client.owner ?? participant;
          await db.meta.put({ ...client, owner });
          return owner;
        }),
      ),

    watch: (listener) => {
      lost = listener;
    },

    close: async () => {
      closed = true;
      db.close();
    },

    destroy: () => {
      closed = true;
      return withDatabase((db) => db.delete());
    },
  };
}

/** Does the work if nobody else leads by now: asked in the transaction that does it, so that nothing comes between. */
function fenced<T extends Fenced | "gap">(
  db: Database,
  generation: number | undefined,
  work: () => Promise<T>,
): Promise<T | "deposed"> {
  return db.transaction("rw", db.mutations, db.parts, db.rows, db.meta, async () => {
    const isLed = generation === undefined || (await db.meta.get("lead"))?.generation === generation;
    return isLed ? work() : "deposed";
  });
}

async function forget(db: Database, places: readonly Place[]): Promise<"kept"> {
  if (places.length === 0) return "kept";
  const seqs = places.map(({ seq }) => seq);
  const there = await db.mutations.bulkGet(seqs);
  await db.mutations.bulkDelete(seqs.filter((_, i) => there[i]?.clientTxId === places[i]?.clientTxId));
  return "kept";
}

/** Asked past Dexie, which would wait for itself if the database were lost once more while it is being opened. */
function clientIn(backend: IDBDatabase): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const request = backend.transaction("meta").objectStore("meta").get("client");
    request.onsuccess = () => resolve((request.result as StoredMeta | undefined)?.clientId);
    request.onerror = () => reject(request.error);
  });
}

const readRows = async (db: Database) =>
  fromStoredRows([...rowsInParts(await db.parts.toArray()), ...(await db.rows.toArray())], await db.meta.get("log"));

const readQueue = async (db: Database): Promise<Mutation[]> =>
  (await db.mutations.orderBy("seq").toArray()).map(fromStored);

/**
 * Written with the platform's own transaction, because its durability is asked for one by one: "strict" waits until
 * the bytes are on the disk, not in a buffer. Resolves at `complete`: before it the writes can still be lost.
 */
function enqueue(db: Database, mutations: readonly Mutation[]): Promise<readonly Place[]> {
  return new Promise((resolve, reject) => {
    const backend: IDBDatabase | null = db.backendDB();
    if (!backend) throw new DOMException("The database was closed.", "InvalidStateError");
    const transaction = backend.transaction(["mutations"], "readwrite", { durability: "strict" });
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
    // Asked for together: while this goes on no tab can put a write on disk.
    const isNew = log.position < to;
    await Promise.all([
      isNew && db.rows.bulkPut(changes.map(storedChange)),
      isNew && db.meta.put({ ...log, position: to }),
      forget(db, settled),
    ]);
    return "kept" as const;
  });
}

function keepPage(
  db: Database,
  { logId, stamp, first, changes, scope, cursor }: StoredPage,
  generation: number,
): Promise<Fenced | "gap"> {
  return fenced(db, generation, async () => {
    const log = await db.meta.get("log");
    const isSame = log?.logId === logId && log.stamp === stamp && log.position === undefined;
    if (!first && !isSame) return "gap" as const;
    if (first) await Promise.all([db.parts.clear(), db.rows.clear()]);
    await db.parts.bulkAdd(storedParts(changes));
    const reached = cursor === null ? { position: stamp } : { stamp, cursor };
    await db.meta.put({ key: "log", logId, ...reached, ...(scope && { scope }) });
    return "kept" as const;
  });
}

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

const LOST = new Set([
  "InvalidStateError",
  "UnknownError",
  "DatabaseClosedError",
  "InvalidState",
  "AbortError",
  "OpenFailedError",
]);
function isLostHandle(error: unknown): boolean {
  return error instanceof Error && LOST.has(error.name);
}

const emptied = () =>
  new StorageFailure(
    "What this site had stored was cleared while the page was open. Writes are kept in memory only until it is loaded again.",
    { code: "cleared" },
  );

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
  if (error instanceof StorageFailure) return error;
  // Dexie wraps what the platform said.
  const inner = (error as { inner?: unknown } | undefined)?.inner;
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  const code = CODES[name] ?? CODES[(inner as Error | undefined)?.name ?? ""] ?? "failed";
  return new StorageFailure(`The local store failed (${name}: ${message}). Writes are kept in memory only.`, {
    cause: error,
    code,
  });
}
