import type { Mutation } from "../core/mutation.ts";
import type { LogRow, RowChange, Rows } from "../core/rows.ts";
import { changeTables, tableOf } from "../core/tables.ts";

/* How things lie in IndexedDB. Reading is tolerant: a newer version of this package may have written there. */

/** One row per write. Keyed by `seq`, which the database counts up for all tabs. */
export interface StoredMutation extends Omit<Mutation, "seq"> {
  seq?: number;
}

export interface StoredRow extends LogRow {
  /** Lower-case model name and id: the key. */
  readonly model: string;
  readonly id: string;
}

export interface StoredMeta {
  readonly key: "client" | "log";
  readonly clientId?: string;
  readonly logId?: string;
  readonly position?: number;
  /** Who is replacing all rows right now; a position comes back when that is done. */
  readonly replacing?: string;
}

/** What a write is stored as: what is only true of this moment in this tab is left out. */
export function toStored(mutation: Mutation): StoredMutation {
  const { seq, stage, ...rest } = mutation;
  const lasting = stage.phase === "held" || stage.phase === "parked" ? stage : ({ phase: "queued" } as const);
  return { ...rest, attempts: 0, landed: [], stage: lasting, ...(seq !== undefined && { seq }) };
}

export const fromStored = (stored: StoredMutation): Mutation => ({ ...stored, seq: stored.seq });

export const storedRow = (model: string, id: string, row: LogRow): StoredRow => ({ ...row, model: tableOf(model), id });

export function rowsFromStored(stored: readonly StoredRow[], meta: StoredMeta | undefined): Rows {
  if (meta?.position === undefined || meta.logId === undefined)
    return { tables: {}, logId: undefined, position: undefined };
  const changes = stored.map(({ model, id, ...value }): RowChange => ({ record: { model, id }, value }));
  return { tables: changeTables({}, changes), logId: meta.logId, position: meta.position };
}
