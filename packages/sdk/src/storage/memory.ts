import type { Place } from "../core/events.ts";
import type { Mutation } from "../core/mutation.ts";
import { noRows, type Rows } from "../core/rows.ts";
import { changeTables } from "../core/tables.ts";
import type { Storage, Stored, StoredStretch } from "../engine/ports.ts";

/** What a store holds. Handing the same one to a new `memoryStorage` is what a reload is to a browser. */
export interface MemoryDisk {
  clientId: string | undefined;
  lastSeq: number;
  readonly bySeq: Map<number, Mutation>;
  rows: Rows;
}

export const memoryDisk = (): MemoryDisk => ({ clientId: undefined, lastSeq: 0, bySeq: new Map(), rows: noRows });

/** Storage for processes that keep nothing: agents, scripts, tests, and a browser whose disk failed. */
export function memoryStorage(disk: MemoryDisk = memoryDisk()): Storage {
  const queue = () => [...disk.bySeq.values()].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  const forget = (seqs: readonly number[]) => {
    for (const seq of seqs) disk.bySeq.delete(seq);
  };
  return {
    async open(freshClientId): Promise<Stored> {
      disk.clientId ??= freshClientId;
      return { clientId: disk.clientId, rows: disk.rows, mutations: queue() };
    },
    async enqueue(mutations): Promise<readonly Place[]> {
      return mutations.map((mutation) => {
        const seq = mutation.seq ?? disk.lastSeq + 1;
        disk.lastSeq = Math.max(disk.lastSeq, seq);
        disk.bySeq.set(seq, { ...mutation, seq, stage: { phase: "queued" } });
        return { clientTxId: mutation.clientTxId, seq };
      });
    },
    async keep(mutations): Promise<void> {
      for (const mutation of mutations)
        if (mutation.seq !== undefined && disk.bySeq.has(mutation.seq)) disk.bySeq.set(mutation.seq, mutation);
    },
    async forget(seqs): Promise<void> {
      forget(seqs);
    },
    async readQueue() {
      return queue();
    },
    async keepRows({ logId, from, to, changes, settled }: StoredStretch) {
      const { rows } = disk;
      if (rows.logId !== logId || rows.position === undefined || rows.position < from) return "gap";
      if (rows.position < to) disk.rows = { tables: changeTables(rows.tables, changes), logId, position: to };
      forget(settled);
      return "kept";
    },
    async keepSnapshot(rows): Promise<void> {
      disk.rows = rows;
    },
    async close(): Promise<void> {},
  };
}
