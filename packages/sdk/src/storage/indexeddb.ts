import { Dexie, type Table } from "dexie";
import { lastingPhase, type Place, type QueueChange } from "../core/mutation.ts";
import type { Look, StorageTrouble } from "../core/state.ts";
import {
  type Enqueued,
  type Kept,
  type Seen,
  type Storage,
  StorageFailure,
  type Stored,
  type StoredPage,
  type StoredStretch,
} from "../engine/ports.ts";
import {
  fromStored,
  fromStoredRows,
  hasNews,
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
          const [queue, rows] = [await readQueue(db), await readRows(db)];
          return { clientId, owner, ...queue, ...rows };
        });
      }),

    enqueue: (changes) => withDatabase((db) => enqueue(db, changes)),

    lead: (seen) =>
      withDatabase((db) =>
        db.transaction("rw", db.meta, db.mutations, db.parts, db.rows, async () => {
          const before = await leadOf(db);
          await db.meta.put({ ...before, generation: (before.generation ?? 0) + 1 });
          return look(db, seen);
        }),
      ),

    look: (seen) =>
      withDatabase((db) => db.transaction("r", db.meta, db.mutations, db.parts, db.rows, () => look(db, seen))),

    keep: (mutations, generation) =>
      withDatabase((db) =>
        fenced(db, [db.mutations], generation, async (lead) => {
          const kept = mutations.filter((m) => m.seq !== undefined);
          const there = await db.mutations.bulkGet(kept.map((m) => m.seq ?? 0));
          await db.mutations.bulkPut(kept.filter((m, i) => there[i]?.clientTxId === m.clientTxId).map(toStored));
          return changed(db, lead, kept);
        }),
      ),

    forget: (places, generation) =>
      withDatabase((db) => fenced(db, [db.mutations], generation, (lead) => forget(db, lead, places))),

    keepRows: (stretch, generation) => withDatabase((db) => keepRows(db, stretch, generation)),

    keepPage: (page, generation) => withDatabase((db) => keepPage(db, page, generation)),

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

const leadOf = async (db: Database): Promise<StoredMeta> => (await db.meta.get("lead")) ?? { key: "lead" };

/** Does the work if nobody else leads by now: asked in the transaction that does it, so that nothing comes between. */
function fenced<T>(
  db: Database,
  tables: readonly Table[],
  generation: number,
  work: (lead: StoredMeta) => Promise<T>,
): Promise<T | "deposed"> {
  return db.transaction("rw", [db.meta, ...tables], async () => {
    const lead = await leadOf(db);
    return lead.generation === generation ? work(lead) : "deposed";
  });
}

/** Counts a change of the queue. */
async function changed(
  db: Database,
  lead: StoredMeta,
  places: readonly { readonly seq?: number | undefined }[],
): Promise<Kept> {
  if (places.length === 0) return { change: undefined };
  const change = (lead.changes ?? 0) + 1;
  await db.meta.put({ ...lead, changes: change, lastSeq: lastSeqOf(lead, places) });
  return { change };
}

const lastSeqOf = ({ lastSeq = 0 }: StoredMeta, places: readonly { readonly seq?: number | undefined }[]): number =>
  places.reduce((last, { seq = 0 }) => Math.max(last, seq), lastSeq);

async function forget(db: Database, lead: StoredMeta, places: readonly Place[]): Promise<Kept> {
  const seqs = places.map(({ seq }) => seq);
  const there = await db.mutations.bulkGet(seqs);
  await db.mutations.bulkDelete(seqs.filter((_, i) => there[i]?.clientTxId === places[i]?.clientTxId));
  return changed(db, lead, places);
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

async function readQueue(db: Database): Promise<Omit<Look, "rows">> {
  const lead = await leadOf(db);
  const mutations = (await db.mutations.orderBy("seq").toArray()).map(fromStored);
  const { changes = 0, generation = 0 } = lead;
  return { mutations, changes, lastSeq: lastSeqOf(lead, mutations.slice(-1)), generation };
}

async function look(db: Database, seen: Seen): Promise<Look> {
  const isNews = hasNews(await db.meta.get("log"), seen);
  return { ...(await readQueue(db)), rows: isNews ? (await readRows(db)).rows : undefined };
}

/**
 * Written with the platform's own transaction, because its durability is asked for one by one: "strict" waits until
 * the bytes are on the disk, not in a buffer. Resolves at `complete`: before it the writes can still be lost.
 */
function enqueue(db: Database, changes: readonly QueueChange[]): Promise<Enqueued> {
  return new Promise((resolve, reject) => {
    const backend: IDBDatabase | null = db.backendDB();
    if (!backend) throw new DOMException("The database was closed.", "InvalidStateError");
    const isNew = changes.every(({ put, drop }) => drop.length === 0 && put.every(({ over }) => !over));
    const scope = isNew ? ["mutations"] : ["mutations", "meta"];
    const transaction = backend.transaction(scope, "readwrite", { durability: "strict" });
    let enqueued: Enqueued | undefined;
    const work = isNew ? putNew(transaction, changes) : exchange(transaction, changes);
    work.then(
      (result) => {
        enqueued = result;
      },
      // Its end tells why.
      () => transaction.abort(),
    );
    transaction.oncomplete = () => resolve(enqueued ?? { places: [], change: undefined });
    transaction.onabort = () => reject(transaction.error ?? new Error("The transaction was given up."));
  });
}

/** New writes need nothing but their places. */
async function putNew(transaction: IDBTransaction, changes: readonly QueueChange[]): Promise<Enqueued> {
  const store = transaction.objectStore("mutations");
  const requests = changes.map(({ put }) => put.map(({ mutation }) => store.put(toStored(mutation))));
  transaction.commit?.();
  const places = requests.map((each) => Promise.all(each.map(async (request) => Number(await answer(request)))));
  return { places: await Promise.all(places), change: undefined };
}

async function exchange(transaction: IDBTransaction, changes: readonly QueueChange[]): Promise<Enqueued> {
  const store = transaction.objectStore("mutations");
  const meta = transaction.objectStore("meta");
  const lead: StoredMeta = (await answer(meta.get("lead"))) ?? { key: "lead" };
  const places: (readonly number[] | "refused")[] = [];
  const taken: Place[] = [];
  for (const { put, drop } of changes) {
    const expected = [...put.flatMap(({ over }) => over ?? []), ...drop];
    const there = await Promise.all(expected.map(({ seq }) => answer<StoredMutation | undefined>(store.get(seq))));
    const isThere = expected.every(
      ({ clientTxId, phase }, i) =>
        there[i]?.clientTxId === clientTxId && lastingPhase((there[i] as StoredMutation).stage) === phase,
    );
    if (!isThere) {
      places.push("refused");
      continue;
    }
    taken.push(...expected);
    for (const { seq } of drop) store.delete(seq);
    places.push(
      await Promise.all(put.map(async ({ mutation }) => Number(await answer(store.put(toStored(mutation)))))),
    );
  }
  if (taken.length === 0) return { places, change: undefined };
  const change = (lead.changes ?? 0) + 1;
  meta.put({ ...lead, changes: change, lastSeq: lastSeqOf(lead, taken) });
  return { places, change };
}

/** What the platform answers, while the transaction lives: nothing else may be waited for in it. */
function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * In two transactions: the rows, however many, keep no tab from putting a write on disk. Killed between them the queue
 * still holds what the rows contain; it is sent again under its name, and answered as before.
 */
async function keepRows(
  db: Database,
  { logId, from, to, changes, settled }: StoredStretch,
  generation: number,
): Promise<Kept | "deposed" | "gap"> {
  const kept = await fenced(db, [db.rows], generation, async () => {
    const log = await db.meta.get("log");
    if (log?.logId !== logId || log.position === undefined || log.position < from) return "gap" as const;
    if (log.position < to)
      await Promise.all([db.rows.bulkPut(changes.map(storedChange)), db.meta.put({ ...log, position: to })]);
    return { change: undefined };
  });
  if (kept === "gap" || kept === "deposed" || settled.length === 0) return kept;
  return fenced(db, [db.mutations], generation, (lead) => forget(db, lead, settled));
}

function keepPage(
  db: Database,
  { logId, stamp, first, changes, scope, cursor }: StoredPage,
  generation: number,
): Promise<"kept" | "deposed" | "gap"> {
  return fenced(db, [db.parts, db.rows], generation, async () => {
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
