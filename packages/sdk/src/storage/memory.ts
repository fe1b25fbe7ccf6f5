import { noRows } from "../core/log/rows.ts";
import { changeTables } from "../core/log/tables.ts";
import type { ExpectedSlot, Mutation, QueueChange, Slot } from "../core/queue/mutation.ts";
import type {
  Enqueued,
  Kept,
  PartialInStore,
  RowsInStore,
  Seen,
  Storage,
  Stored,
  StoredLogRange,
  StoredPage,
  StoredQueue,
} from "../engine/ports.ts";
import {
  bringsNews,
  fromStored,
  hasNews,
  isContinuedBy,
  ownedBy,
  type StoredMutation,
  storedPhase,
  toStored,
} from "./stored.ts";

/** The content of a store. Giving it to a second client has the effect of a reload in a browser. */
export class MemoryDisk {
  #clientId: string | undefined;
  #lastSeq = 0;
  #changes = 0;
  #generation = 0;
  #facts: Pick<Stored, "owner" | "others" | "recordBytes"> = {};
  readonly #bySeq = new Map<number, StoredMutation>();
  #rows: RowsInStore = noRows;
  #partial: PartialInStore | undefined;
  readonly #isFallback: boolean;

  /** `isFallback`: the contents of expected slots may be on a disk that failed. */
  constructor({ isFallback = false } = {}) {
    this.#isFallback = isFallback;
  }

  /** Assigns `seq` numbers above this one from now on. */
  startAfter(seq: number): void {
    this.#lastSeq = Math.max(this.#lastSeq, seq);
  }

  read(freshClientId: string): Stored {
    this.#clientId ??= freshClientId;
    const partial = this.#partial?.cursor ? this.#partial : undefined;
    return { ...this.look(), clientId: this.#clientId, rows: this.#rows, partial, ...this.#facts };
  }

  queue(): readonly Mutation[] {
    return [...this.#bySeq.entries()].sort(([a], [b]) => a - b).map(([seq, stored]) => fromStored({ ...stored, seq }));
  }

  look(seen?: Seen): StoredQueue {
    const rows = hasNews(this.#rows, seen) ? this.#rows : undefined;
    const [changes, lastSeq, generation] = [this.#changes, this.#lastSeq, this.#generation];
    return { mutations: this.queue(), changes, lastSeq, generation, rows };
  }

  enqueue(changes: readonly QueueChange[]): Enqueued {
    const change = this.#changes + 1;
    const places = changes.map(({ put, drop }) => {
      const expected = [...put.flatMap(({ over }) => over ?? []), ...drop];
      if (!expected.every((standing) => this.#holds(standing))) return "refused";
      for (const { seq } of drop) this.#bySeq.delete(seq);
      if (expected.length > 0) this.#changes = change;
      return put.map(({ mutation }) => {
        const seq = mutation.seq ?? this.#lastSeq + 1;
        this.startAfter(seq);
        this.#bySeq.set(seq, toStored(mutation));
        return seq;
      });
    });
    return { places, change: this.#changes === change ? change : undefined };
  }

  #holds({ clientTxId, seq, phase }: ExpectedSlot): boolean {
    if (this.#isFallback) return true;
    const there = this.#bySeq.get(seq);
    return there?.clientTxId === clientTxId && storedPhase(there) === phase;
  }

  lead(seen?: Seen): StoredQueue {
    this.#generation += 1;
    return this.look(seen);
  }

  keep(mutations: readonly Mutation[], generation: number): Kept | "fenced" {
    if (generation !== this.#generation) return "fenced";
    for (const mutation of mutations)
      if (mutation.seq !== undefined && this.#bySeq.get(mutation.seq)?.clientTxId === mutation.clientTxId)
        this.#bySeq.set(mutation.seq, toStored(mutation));
    return this.#changed(mutations);
  }

  forget(places: readonly Slot[], generation: number): Kept | "fenced" {
    if (generation !== this.#generation) return "fenced";
    for (const { clientTxId, seq } of places)
      if (this.#bySeq.get(seq)?.clientTxId === clientTxId) this.#bySeq.delete(seq);
    return this.#changed(places);
  }

  #changed({ length }: readonly unknown[]): Kept {
    if (length === 0) return { change: undefined };
    this.#changes += 1;
    return { change: this.#changes };
  }

  keepRows(range: StoredLogRange, generation: number): Kept | "fenced" | "gap" {
    if (generation !== this.#generation) return "fenced";
    const { position = 0, tables } = this.#rows;
    if (!isContinuedBy(this.#rows, range)) return "gap";
    if (bringsNews(range, this.#rows)) {
      const { scope, to, at = this.#rows.at } = range;
      this.#rows = {
        ...this.#rows,
        tables: changeTables(tables, range.changes),
        ...{ scope, at },
        position: Math.max(position, to),
      };
    }
    return this.forget(range.settled, generation);
  }

  keepPage({ logId, rowsVersion, viewHash, stamp, first, changes, scope, at, cursor }: StoredPage, generation: number) {
    if (generation !== this.#generation) return "fenced";
    const before = this.#partial;
    if (!first && (before?.logId !== logId || before.stamp !== stamp)) return "gap";
    const tables = changeTables(first ? {} : (this.#partial?.tables ?? {}), changes);
    this.#rows = cursor === null ? { tables, logId, rowsVersion, viewHash, position: stamp, scope, at } : noRows;
    this.#partial = cursor === null ? undefined : { logId, rowsVersion, viewHash, stamp, cursor, tables, scope };
    return "kept";
  }

  rows(): RowsInStore {
    return this.#rows;
  }

  own(owner: string, instead?: string): string {
    const owned = ownedBy(this.#facts, owner, instead);
    this.#facts = { ...this.#facts, ...owned };
    return owned.owner;
  }

  keepRecordBytes(recordBytes: number | undefined): void {
    this.#facts = { ...this.#facts, recordBytes };
  }

  clear(): void {
    this.#clientId = undefined;
    this.#facts = {};
    this.#bySeq.clear();
    this.#rows = noRows;
    this.#partial = undefined;
  }
}

/** Storage for processes that keep nothing: agents, scripts, tests, and a browser whose disk failed. */
export function memoryStorage(disk = new MemoryDisk()): Storage {
  return {
    open: async (freshClientId) => disk.read(freshClientId),
    enqueue: async (changes) => disk.enqueue(changes),
    takeLead: async (seen) => disk.lead(seen),
    readQueue: async (seen) => disk.look(seen),
    keep: async (mutations, generation) => disk.keep(mutations, generation),
    forget: async (places, generation) => disk.forget(places, generation),
    keepRows: async (range, generation) => disk.keepRows(range, generation),
    keepPage: async (page, generation) => disk.keepPage(page, generation),
    own: async (owner, instead) => disk.own(owner, instead),
    keepRecordBytes: async (recordBytes) => disk.keepRecordBytes(recordBytes),
    destroy: async () => disk.clear(),
    close: async () => {},
  };
}
