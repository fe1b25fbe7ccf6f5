import type { Mutation, Place } from "../core/mutation.ts";
import { noRows, type PartialSnapshot, type Rows } from "../core/rows.ts";
import { changeTables } from "../core/tables.ts";
import type { Fenced, Storage, Stored, StoredPage, StoredStretch } from "../engine/ports.ts";
import { fromStored, type StoredMutation, toStored } from "./stored.ts";

/** What a store holds. Handing the same one to a second client is what a reload is to a browser. */
export class MemoryDisk {
  #clientId: string | undefined;
  #lastSeq = 0;
  #generation = 0;
  #owner: string | undefined;
  readonly #bySeq = new Map<number, StoredMutation>();
  #rows: Rows = noRows;
  #partial: PartialSnapshot | undefined;

  /** Places that are given from now on lie behind this one. */
  startAfter(seq: number): void {
    this.#lastSeq = Math.max(this.#lastSeq, seq);
  }

  read(freshClientId: string): Stored {
    this.#clientId ??= freshClientId;
    const partial = this.#partial?.cursor ? this.#partial : undefined;
    return { clientId: this.#clientId, rows: this.#rows, mutations: this.queue(), partial, owner: this.#owner };
  }

  queue(): readonly Mutation[] {
    return [...this.#bySeq.entries()].sort(([a], [b]) => a - b).map(([seq, stored]) => fromStored({ ...stored, seq }));
  }

  enqueue(mutations: readonly Mutation[]): readonly Place[] {
    return mutations.map((mutation) => {
      const seq = mutation.seq ?? this.#lastSeq + 1;
      this.startAfter(seq);
      this.#bySeq.set(seq, toStored(mutation));
      return { clientTxId: mutation.clientTxId, seq };
    });
  }

  lead(): { generation: number; mutations: readonly Mutation[] } {
    this.#generation += 1;
    return { generation: this.#generation, mutations: this.queue() };
  }

  keep(mutations: readonly Mutation[], generation: number): Fenced {
    if (generation !== this.#generation) return "deposed";
    for (const mutation of mutations)
      if (mutation.seq !== undefined && this.#bySeq.get(mutation.seq)?.clientTxId === mutation.clientTxId)
        this.#bySeq.set(mutation.seq, toStored(mutation));
    return "kept";
  }

  forget(places: readonly Place[], generation?: number): Fenced {
    if (generation !== undefined && generation !== this.#generation) return "deposed";
    for (const { clientTxId, seq } of places)
      if (this.#bySeq.get(seq)?.clientTxId === clientTxId) this.#bySeq.delete(seq);
    return "kept";
  }

  keepRows({ logId, from, to, changes, settled }: StoredStretch, generation: number): Fenced | "gap" {
    if (generation !== this.#generation) return "deposed";
    const { position, tables } = this.#rows;
    if (this.#rows.logId !== logId || position === undefined || position < from) return "gap";
    if (position < to) this.#rows = { ...this.#rows, tables: changeTables(tables, changes), position: to };
    return this.forget(settled, generation);
  }

  keepPage({ logId, stamp, first, changes, scope, cursor }: StoredPage, generation: number): Fenced | "gap" {
    if (generation !== this.#generation) return "deposed";
    const before = this.#partial;
    if (!first && (before?.logId !== logId || before.stamp !== stamp)) return "gap";
    const tables = changeTables(first ? {} : (this.#partial?.tables ?? {}), changes);
    this.#rows = cursor === null ? { tables, logId, position: stamp, scope } : noRows;
    this.#partial = cursor === null ? undefined : { logId, stamp, cursor, tables, scope };
    return "kept";
  }

  rows(): Rows {
    return this.#rows;
  }

  own(participant: string): string {
    this.#owner ??= participant;
    return this.#owner;
  }

  clear(): void {
    this.#clientId = undefined;
    this.#owner = undefined;
    this.#bySeq.clear();
    this.#rows = noRows;
    this.#partial = undefined;
  }
}

/** Storage for processes that keep nothing: agents, scripts, tests, and a browser whose disk failed. */
export function memoryStorage(disk = new MemoryDisk()): Storage {
  return {
    open: async (freshClientId) => disk.read(freshClientId),
    enqueue: async (mutations) => disk.enqueue(mutations),
    lead: async () => disk.lead(),
    keep: async (mutations, generation) => disk.keep(mutations, generation),
    forget: async (places, generation) => disk.forget(places, generation),
    keepRows: async (stretch, generation) => disk.keepRows(stretch, generation),
    keepPage: async (page, generation) => disk.keepPage(page, generation),
    readRows: async () => disk.rows(),
    own: async (participant) => disk.own(participant),
    destroy: async () => disk.clear(),
    close: async () => {},
  };
}
