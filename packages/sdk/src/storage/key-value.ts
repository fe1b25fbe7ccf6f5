import type { RowChange } from "../core/log/rows.ts";
import type { ExpectedSlot, Put, Slot } from "../core/queue/mutation.ts";
import { type Kept, type Seen, type Storage, StorageFailure } from "../engine/ports.ts";
import { failure } from "./storage-failure.ts";
import {
  bringsNews,
  fromStored,
  fromStoredRows,
  hasNews,
  isContinuedBy,
  ownedBy,
  rowKey,
  type StoredMeta,
  type StoredMutation,
  type StoredRow,
  storedChange,
  storedPhase,
  toStored,
} from "./stored.ts";

/*
 * A storage over any store of texts by key. Three kinds of keys:
 *
 *   meta               who the client is, how far the rows have read, counters
 *   queue/<seq>        a write
 *   row/<model>/<id>   a record
 *
 * Each operation reads, decides, and writes one batch. Operations run one after the other, because the store offers no
 * transaction that would cover reads and writes. Therefore a store belongs to one client of one process.
 */

/** A store of texts by key, which you implement over what your platform offers. All methods may be synchronous. */
export interface KeyValueStore {
  /** The text of a key; undefined or null if there is none. */
  get(key: string): Awaitable<string | null | undefined>;
  /** All entries with `from` ≤ key < `to`, in any order. */
  entries(from: string, to: string): Awaitable<readonly (readonly [key: string, value: string])[]>;
  /**
   * Makes all changes in this order, or none of them if the process ends meanwhile. Resolves when they would survive
   * the end of the process.
   */
  write(changes: readonly KeyValueChange[]): Awaitable<void>;
  close(): Awaitable<void>;
}

export type KeyValueChange =
  | { readonly type: "put"; readonly key: string; readonly value: string }
  | { readonly type: "delete"; readonly key: string }
  /** Deletes all keys with `from` ≤ key < `to`. */
  | { readonly type: "deleteRange"; readonly from: string; readonly to: string };

export type Awaitable<T> = T | Promise<T>;

/** Later versions of this package raise it when this code can no longer read what they write. */
const FORMAT = 1;

interface Meta extends Omit<StoredMeta, "key"> {
  readonly format: number;
}
type NextMeta = { readonly [Key in keyof Meta]: Meta[Key] | undefined };

const META = "meta";
// "0" follows "/", so each range has all keys with the prefix and no others.
const QUEUE = { from: "queue/", to: "queue0" };
const ROWS = { from: "row/", to: "row0" };
type Range = typeof QUEUE;
const queueKey = (seq: number) => `${QUEUE.from}${seq}`;
const rowKeyOf = (row: StoredRow) => `${ROWS.from}${rowKey(row)}`;

/** Keeps a client's queue and rows in your store. One client of one process may use the store at a time. */
export function keyValueStorage(store: KeyValueStore): Storage {
  let last: Promise<unknown> = Promise.resolve();
  /** Something was written, so the store has a META. */
  let isWritten = false;

  function transaction<T>(work: (draft: Draft) => Promise<T>): Promise<T> {
    const done = last.then(async () => {
      try {
        const draft = new Draft(store);
        // A store that forgets would let the client lead and lose the lead for ever.
        if (isWritten && (await draft.get(META)) === undefined)
          throw new StorageFailure("The local store has lost its data. Writes are in memory only.", {
            code: "lost",
          });
        const result = await work(draft);
        isWritten = (await draft.save()) || isWritten;
        return result;
      } catch (error) {
        throw failure(error);
      }
    });
    last = done.catch(() => {});
    return done;
  }

  const fenced = <T>(generation: number, work: (draft: Draft, meta: Meta) => Promise<T>): Promise<T | "fenced"> =>
    transaction(async (draft) => {
      const meta = await draft.meta();
      return (meta.generation ?? 0) === generation ? await work(draft, meta) : "fenced";
    });

  return {
    open: (freshClientId) =>
      transaction(async (draft) => {
        const meta = await draft.meta();
        const { clientId = freshClientId, owner, others, recordBytes } = meta;
        if (meta.clientId === undefined) draft.setMeta({ ...meta, clientId });
        const known = { clientId, owner, others, recordBytes };
        return { ...(await queueOf(draft, meta)), ...known, ...(await rowsOf(draft, meta)) };
      }),

    enqueue: (changes) =>
      transaction(async (draft) => {
        const places: (readonly number[] | "refused")[] = [];
        const taken: Slot[] = [];
        for (const { put, drop } of changes) {
          const expected = [...put.flatMap(({ over }) => over ?? []), ...drop];
          const there = await Promise.all(expected.map((slot) => holds(draft, slot)));
          if (there.includes(false)) {
            places.push("refused");
            continue;
          }
          taken.push(...expected);
          for (const { seq } of drop) draft.delete(queueKey(seq));
          places.push(await putWrites(draft, put));
        }
        return { places, ...(await counted(draft, taken)) };
      }),

    takeLead: (seen) =>
      transaction(async (draft) => {
        const meta = await draft.meta();
        const led = { ...meta, generation: (meta.generation ?? 0) + 1 };
        draft.setMeta(led);
        return await snapshotFor(draft, led, seen);
      }),

    readQueue: (seen) => transaction(async (draft) => snapshotFor(draft, await draft.meta(), seen)),

    keep: (mutations, generation) =>
      fenced(generation, async (draft) => {
        for (const mutation of mutations)
          if (mutation.seq !== undefined && (await isAt(draft, { ...mutation, seq: mutation.seq })))
            draft.put(queueKey(mutation.seq), toStored(mutation));
        return await counted(draft, mutations);
      }),

    forget: (places, generation) => fenced(generation, (draft) => forget(draft, places)),

    keepRows: (range, generation) =>
      fenced(generation, async (draft, meta) => {
        if (!isContinuedBy(meta, range)) return "gap";
        const { position = 0 } = meta;
        if (bringsNews(range, meta)) {
          putRows(draft, range.changes);
          const { scope, at = meta.at, to } = range;
          draft.setMeta({ ...meta, scope, ...(at && { at }), position: Math.max(position, to) });
        }
        return await forget(draft, range.settled);
      }),

    keepPage: ({ logId, rowsVersion, viewHash, stamp, first, changes, scope, at, cursor }, generation) =>
      fenced(generation, async (draft, meta) => {
        const isNext = meta.position === undefined && meta.logId === logId && meta.stamp === stamp;
        if (!first && !isNext) return "gap";
        if (first) draft.deleteRange(ROWS);
        putRows(draft, changes);
        const none = { position: undefined, stamp: undefined, cursor: undefined };
        const about = { logId, rowsVersion, viewHash, scope, at, ...none };
        draft.setMeta({ ...meta, ...about, ...(cursor === null ? { position: stamp } : { stamp, cursor }) });
        return "kept";
      }),

    own: (owner, instead) =>
      transaction(async (draft) => {
        const meta = await draft.meta();
        const owned = ownedBy(meta, owner, instead);
        draft.setMeta({ ...meta, ...owned });
        return owned.owner;
      }),

    keepRecordBytes: (recordBytes) =>
      transaction(async (draft) => draft.setMeta({ ...(await draft.meta()), recordBytes })),

    close: async () => {
      await last;
      await store.close();
    },

    async destroy() {
      await transaction(async (draft) => {
        for (const range of [QUEUE, ROWS]) draft.deleteRange(range);
        draft.delete(META);
      });
      isWritten = false;
      await store.close();
    },
  };
}

async function queueOf(draft: Draft, { changes = 0, lastSeq = 0, generation = 0 }: Meta) {
  const stored = await draft.all<StoredMutation>(QUEUE);
  const mutations = stored.map(fromStored).sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  return { mutations, changes, lastSeq, generation };
}

const rowsOf = async (draft: Draft, meta: Meta) => fromStoredRows(await draft.all<StoredRow>(ROWS), meta);

async function snapshotFor(draft: Draft, meta: Meta, seen: Seen) {
  const rows = hasNews(meta, seen) ? (await rowsOf(draft, meta)).rows : undefined;
  return { ...(await queueOf(draft, meta)), rows };
}

async function holds(draft: Draft, { clientTxId, seq, phase }: ExpectedSlot): Promise<boolean> {
  const there = await draft.get<StoredMutation>(queueKey(seq));
  return there?.clientTxId === clientTxId && storedPhase(there) === phase;
}

const isAt = async (draft: Draft, { clientTxId, seq }: Slot): Promise<boolean> =>
  (await draft.get<StoredMutation>(queueKey(seq)))?.clientTxId === clientTxId;

/** Stores writes at their place, new ones at the end, and returns the places. */
async function putWrites(draft: Draft, puts: readonly Put[]): Promise<readonly number[]> {
  const meta = await draft.meta();
  let { lastSeq = 0 } = meta;
  const places = puts.map(({ mutation }) => {
    const seq = mutation.seq ?? lastSeq + 1;
    lastSeq = Math.max(lastSeq, seq);
    draft.put(queueKey(seq), { ...toStored(mutation), seq });
    return seq;
  });
  if (lastSeq !== meta.lastSeq) draft.setMeta({ ...meta, lastSeq });
  return places;
}

async function forget(draft: Draft, places: readonly Slot[]): Promise<Kept> {
  for (const place of places) if (await isAt(draft, place)) draft.delete(queueKey(place.seq));
  return await counted(draft, places);
}

async function counted(draft: Draft, { length }: readonly unknown[]): Promise<Kept> {
  if (length === 0) return { change: undefined };
  const meta = await draft.meta();
  const change = (meta.changes ?? 0) + 1;
  draft.setMeta({ ...meta, changes: change });
  return { change };
}

function putRows(draft: Draft, changes: readonly RowChange[]): void {
  for (const row of changes.map(storedChange))
    if (row.gone) draft.delete(rowKeyOf(row));
    else draft.put(rowKeyOf(row), row);
}

/** The changes of one operation. `get` and `meta` see them before they are in the store; `all` does not. */
class Draft {
  readonly #store: KeyValueStore;
  readonly #changes: KeyValueChange[] = [];
  /** Null: deleted. */
  readonly #changed = new Map<string, string | null>();

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  async get<T>(key: string): Promise<T | undefined> {
    const changed = this.#changed.get(key);
    const text = changed === undefined ? await this.#store.get(key) : changed;
    return text === undefined || text === null ? undefined : parsed<T>(key, text);
  }

  async all<T>({ from, to }: Range): Promise<T[]> {
    return (await this.#store.entries(from, to)).map(([key, text]) => parsed<T>(key, text));
  }

  async meta(): Promise<Meta> {
    const meta = (await this.get<Meta>(META)) ?? { format: FORMAT };
    if (meta.format > FORMAT)
      throw new StorageFailure("A newer version of the app wrote this store. Writes are in memory only.", {
        code: "newer",
      });
    return meta;
  }

  setMeta(meta: NextMeta): void {
    this.put(META, meta);
  }

  put(key: string, value: object): void {
    const text = JSON.stringify(value);
    this.#changed.set(key, text);
    this.#changes.push({ type: "put", key, value: text });
  }

  delete(key: string): void {
    this.#changed.set(key, null);
    this.#changes.push({ type: "delete", key });
  }

  deleteRange(range: Range): void {
    this.#changes.push({ type: "deleteRange", ...range });
  }

  /** Resolves with whether there was anything to write. */
  async save(): Promise<boolean> {
    if (this.#changes.length > 0) await this.#store.write(this.#changes);
    return this.#changes.length > 0;
  }
}

function parsed<T>(key: string, text: string): T {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) throw new TypeError("The entry is not an object.");
    return value as T;
  } catch (cause) {
    throw new StorageFailure(`The entry "${key}" of the local store is damaged. Writes are in memory only.`, {
      cause,
      code: "damaged",
    });
  }
}
