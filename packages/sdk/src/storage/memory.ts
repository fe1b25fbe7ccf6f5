import type { Place } from "../core/events.ts";
import type { Mutation } from "../core/mutation.ts";
import { noRows, type Rows } from "../core/rows.ts";
import { changeTables } from "../core/tables.ts";
import type { Storage, Stored, StoredStretch } from "../engine/ports.ts";
import { fromStored, type StoredMutation, toStored } from "./stored.ts";

/** What a store holds. Handing the same one to a second client is what a reload is to a browser. */
export class MemoryDisk {
  #clientId: string | undefined;
  #lastSeq = 0;
  readonly #bySeq = new Map<number, StoredMutation>();
  #rows: Rows = noRows;

  /** Places that are given from now on lie behind this one. */
  startAfter(seq: number): void {
    this.#lastSeq = Math.max(this.#lastSeq, seq);
  }

  read(freshClientId: string): Stored {
    this.#clientId ??= freshClientId;
    return { clientId: this.#clientId, rows: this.#rows, mutations: this.queue() };
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

  keep(mutations: readonly Mutation[]): void {
    for (const mutation of mutations)
      if (mutation.seq !== undefined && this.#bySeq.has(mutation.seq))
        this.#bySeq.set(mutation.seq, toStored(mutation));
  }

  forget(seqs: readonly number[]): void {
    for (const seq of seqs) this.#bySeq.delete(seq);
  }

  keepRows({ logId, from, to, changes, settled }: StoredStretch): "kept" | "gap" {
    const { position, tables } = this.#rows;
    if (this.#rows.logId !== logId || position === undefined || position < from) return "gap";
    if (position < to) this.#rows = { tables: changeTables(tables, changes), logId, position: to };
    this.forget(settled);
    return "kept";
  }

  keepSnapshot(rows: Rows): void {
    this.#rows = rows;
  }
}

/** Storage for processes that keep nothing: agents, scripts, tests, and a browser whose disk failed. */
export function memoryStorage(disk = new MemoryDisk()): Storage {
  return {
    open: async (freshClientId) => disk.read(freshClientId),
    enqueue: async (mutations) => disk.enqueue(mutations),
    keep: async (mutations) => disk.keep(mutations),
    forget: async (seqs) => disk.forget(seqs),
    readQueue: async () => disk.queue(),
    keepRows: async (stretch) => disk.keepRows(stretch),
    keepSnapshot: async (rows) => disk.keepSnapshot(rows),
    close: async () => {},
  };
}
