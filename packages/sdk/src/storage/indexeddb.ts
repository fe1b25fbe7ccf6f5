import type { Table } from "dexie";
import type { Slot } from "../core/queue/mutation.ts";
import type {
  Kept,
  Seen,
  Storage,
  StorageFailure,
  Stored,
  StoredLogRange,
  StoredPage,
  StoredQueue,
} from "../engine/ports.ts";
import { clientIn, Database, opened } from "./database.ts";
import { Dexie } from "./dexie.ts";
import { enqueue, keep } from "./enqueue.ts";
import { diskFull, emptied, failure, isDiskFull, isFull, isLostHandle } from "./storage-failure.ts";
import {
  bringsNews,
  fromStored,
  hasNews,
  isContinuedBy,
  lastSeqOf,
  ownedBy,
  rowsInParts,
  type StoredMeta,
  type StoredRow,
  StoredRows,
  storedChange,
  storedChunks,
} from "./stored.ts";
import { answer, strictTransaction } from "./strict-transaction.ts";
import { Tombstones } from "./tombstones.ts";

const OPEN_MS = 10_000;
/** The number of tombstones at which they are pruned: reading so many delays a start by about 30 ms. */
const PRUNE_AT = 1_000;
/** How much is read at a time: about two thousand rows, which take a slow phone 20 ms. */
const PARTS_AT_ONCE = 4;
const ROWS_AT_ONCE = 2_000;

export interface IndexedDbOptions {
  /** The name of the database: one per app, server and signed-in user. */
  readonly name: string;
  /** How long an open may take before it counts as blocked. Default 10 000. */
  readonly openMs?: number;
  /** The number of tombstones at which they are pruned. Default 1 000. */
  readonly pruneAt?: number;
}

/** Storage that survives a reload, shared by all tabs of a browser profile. */
export function indexedDbStorage({ name, openMs = OPEN_MS, pruneAt = PRUNE_AT }: IndexedDbOptions): Storage {
  const tombstones = new Tombstones();
  let openedAs: string | undefined;
  let lost: (failure: StorageFailure) => void = () => {};
  let closed = false;
  let db = newDatabase();

  /** Checks at every open that the database is the same as before: a cleared database opens like a new one. */
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
    // The client did not close it: the browser cleared the site's data, or another page deleted the database. Check it
    // now and not at the next write, because writes that were reported as durable may be lost.
    made.on("close", () => {
      if (!wasOpen || closed || made !== db) return;
      wasOpen = false;
      // The event fires before the database is closed.
      queueMicrotask(() => {
        if (made === db) withDatabase((there) => opened(there, openMs)).catch((error: StorageFailure) => lost(error));
      });
    });
    return made;
  }

  /**
   * Safari loses open databases, and any handle may be closed unexpectedly. Retry once with a new handle. That is safe,
   * because a failed transaction has no effect.
   */
  async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
    const before = db;
    try {
      return await work(before);
    } catch (first) {
      if (!isLostHandle(first)) throw failure(first);
      // If several operations lose the same handle, the first one opens the next handle for all.
      if (db === before) {
        db = newDatabase();
        before.close();
      }
      const next = db;
      try {
        await opened(next, openMs);
        return await work(next);
      } catch (second) {
        // After a write that found no space, Chromium cannot open the store either.
        if (isFull(first)) throw diskFull(first);
        const found = failure(second);
        throw found.code === "damaged" && (await isDiskFull()) ? diskFull(second) : found;
      }
    }
  }

  /** Runs in the background. If it fails, nothing is lost: the next start finds the remaining tombstones. */
  function prune(generation: number): void {
    if (closed) return;
    const there = db;
    const inOne = async <T>(work: () => Promise<T>): Promise<T> => {
      const done = closed ? "fenced" : await fenced(there, [there.parts, there.rows], generation, work);
      if (done === "fenced") throw new Error("Another tab is the leader now.");
      return done;
    };
    tombstones.prune(there, pruneAt, inOne).catch(() => {});
  }

  return {
    open: (freshClientId) =>
      withDatabase(async (db): Promise<Stored> => {
        await opened(db, openMs);
        return db.transaction("rw", db.meta, db.parts, db.rows, db.mutations, async () => {
          const client = await db.meta.get("client");
          if (!client) await db.meta.put({ key: "client", clientId: freshClientId });
          const { clientId = freshClientId, owner, others, recordBytes } = client ?? {};
          openedAs = clientId;
          const [queue, { rows, single }] = [await readQueue(db), await readRows(db)];
          tombstones.note(single);
          return { clientId, owner, others, recordBytes, ...queue, ...rows };
        });
      }),

    enqueue: (changes) => withDatabase((db) => enqueue(db, changes)),

    takeLead: async (seen) => {
      const found = await withDatabase((db) =>
        db.transaction("rw", db.meta, db.mutations, db.parts, db.rows, async () => {
          const before = await leadOf(db);
          await db.meta.put({ ...before, generation: (before.generation ?? 0) + 1 });
          return snapshotFor(db, seen);
        }),
      );
      prune(found.generation);
      return found;
    },

    readQueue: (seen) =>
      withDatabase((db) => db.transaction("r", db.meta, db.mutations, db.parts, db.rows, () => snapshotFor(db, seen))),

    keep: (mutations, generation) => withDatabase((db) => keep(db, mutations, generation)),

    forget: (places, generation) =>
      withDatabase((db) => fenced(db, [db.mutations], generation, (lead) => forget(db, lead, places))),

    keepRows: async (range, generation) => {
      const rows = tombstones.marked(range.changes.map(storedChange));
      const kept = await withDatabase((db) => keepRows(db, range, rows, generation));
      if (kept === "gap" || kept === "fenced") return kept;
      tombstones.note(rows);
      prune(generation);
      return kept;
    },

    keepPage: (page, generation) => {
      if (page.first) tombstones.forget();
      return withDatabase((db) => keepPage(db, page, generation));
    },

    own: (owner, instead) =>
      // Strict: a store that loses its owner would accept the next participant as its owner.
      withDatabase((db) =>
        strictTransaction(db, ["meta"], async (transaction) => {
          const meta = transaction.objectStore("meta");
          const client: StoredMeta = (await answer(meta.get("client"))) ?? { key: "client" };
          const next = { ...client, ...ownedBy(client, owner, instead) };
          await answer(meta.put(next));
          return next.owner;
        }),
      ),

    // A store that was cleared has no client, and the next one hears it again.
    keepRecordBytes: (recordBytes) =>
      withDatabase(async (db) => void (await db.meta.update("client", { recordBytes }))),

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

/** Does the work unless another tab leads by now. The check runs in the same transaction as the work. */
function fenced<T>(
  db: Database,
  tables: readonly Table[],
  generation: number,
  work: (lead: StoredMeta) => Promise<T>,
): Promise<T | "fenced"> {
  return db.transaction("rw", [db.meta, ...tables], async () => {
    const lead = await leadOf(db);
    return lead.generation === generation ? work(lead) : "fenced";
  });
}

/** Numbers a change of the queue. */
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

async function forget(db: Database, lead: StoredMeta, places: readonly Slot[]): Promise<Kept> {
  const seqs = places.map(({ seq }) => seq);
  const there = await db.mutations.bulkGet(seqs);
  await db.mutations.bulkDelete(seqs.filter((_, i) => there[i]?.clientTxId === places[i]?.clientTxId));
  return changed(db, lead, places);
}

async function readRows(db: Database) {
  const rows = new StoredRows();
  const single: StoredRow[] = [];
  await inPieces(
    db.parts,
    PARTS_AT_ONCE,
    ({ n = 0 }) => n,
    (parts) => rows.add(rowsInParts(parts)),
  );
  await inPieces(
    db.rows,
    ROWS_AT_ONCE,
    ({ model, id }): [string, string] => [model, id],
    (piece) => {
      rows.add(piece);
      single.push(...piece);
    },
  );
  return { rows: rows.end(await db.meta.get("log")), single };
}

/**
 * All objects of a table, some at a time, in the order of their keys. The browser tells of each piece in a task of its
 * own, so the page can react in between. While one piece is taken in, the next one is being read, which also keeps the
 * transaction open.
 */
async function inPieces<T, Key>(
  table: Table<T, Key>,
  size: number,
  keyOf: (object: T) => Key,
  take: (piece: readonly T[]) => void,
): Promise<void> {
  const after = (key: Key | typeof Dexie.minKey) => table.where(":id").above(key).limit(size).toArray();
  let next = after(Dexie.minKey);
  for (let piece = await next; piece.length > 0; piece = await next) {
    next = after(keyOf(piece[piece.length - 1] as T));
    // If the piece cannot be taken in, that error ends the transaction.
    next.catch(() => {});
    take(piece);
  }
}

async function readQueue(db: Database): Promise<Omit<StoredQueue, "rows">> {
  const lead = await leadOf(db);
  const mutations = (await db.mutations.orderBy("seq").toArray()).map(fromStored);
  const { changes = 0, generation = 0 } = lead;
  return { mutations, changes, lastSeq: lastSeqOf(lead, mutations.slice(-1)), generation };
}

async function snapshotFor(db: Database, seen: Seen): Promise<StoredQueue> {
  const isNews = hasNews(await db.meta.get("log"), seen);
  return { ...(await readQueue(db)), rows: isNews ? (await readRows(db)).rows.rows : undefined };
}

/**
 * Uses two transactions, so that storing many rows does not delay the writes of other tabs. After a crash between them,
 * the queue still contains writes that the rows include; they are sent again under their names and get the same
 * receipts.
 */
async function keepRows(
  db: Database,
  range: StoredLogRange,
  rows: readonly StoredRow[],
  generation: number,
): Promise<Kept | "fenced" | "gap"> {
  const kept = await fenced(db, [db.rows], generation, async () => {
    const log = await db.meta.get("log");
    if (!log || !isContinuedBy(log, range)) return "gap" as const;
    const { position = 0 } = log;
    if (bringsNews(range, log)) {
      const { scope, at, to } = range;
      const reached = { ...log, position: Math.max(position, to), ...(scope && { scope }), ...(at && { at }) };
      await Promise.all([db.rows.bulkPut(rows), db.meta.put(reached)]);
    }
    return { change: undefined };
  });
  if (kept === "gap" || kept === "fenced" || range.settled.length === 0) return kept;
  return fenced(db, [db.mutations], generation, (lead) => forget(db, lead, range.settled));
}

function keepPage(
  db: Database,
  { logId, rowsVersion, viewHash, stamp, first, changes, scope, at, cursor }: StoredPage,
  generation: number,
): Promise<"kept" | "fenced" | "gap"> {
  return fenced(db, [db.parts, db.rows], generation, async () => {
    const log = await db.meta.get("log");
    const isSame = log?.logId === logId && log.stamp === stamp && log.position === undefined;
    if (!first && !isSame) return "gap" as const;
    if (first) await Promise.all([db.parts.clear(), db.rows.clear()]);
    await db.parts.bulkAdd(storedChunks(changes));
    const reached = cursor === null ? { position: stamp } : { stamp, cursor };
    const seen = { ...(rowsVersion !== undefined && { rowsVersion }), ...(viewHash !== undefined && { viewHash }) };
    await db.meta.put({ key: "log", logId, ...seen, ...reached, ...(scope && { scope }), ...(at && { at }) });
    return "kept" as const;
  });
}
