import type { Mutation } from "../core/mutation.ts";
import { type LogRow, noRows, type RowChange, type Rows } from "../core/rows.ts";
import { changeTables, tableOf } from "../core/tables.ts";
import type { PartialSnapshot } from "../engine/ports.ts";

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
  readonly key: "client" | "log" | "lead";
  readonly clientId?: string;
  readonly owner?: string;
  readonly logId?: string;
  /** How far the rows have read; none while only a part of a snapshot is there. */
  readonly position?: number;
  /** The snapshot that is being kept: its position, and where its next page begins. */
  readonly stamp?: number;
  readonly cursor?: string;
  /** How often the tab that sends has changed. */
  readonly generation?: number;
}

/** What a write is stored as: what is only true of this moment in this tab is left out. */
export function toStored(mutation: Mutation): StoredMutation {
  const { seq, stage, ...rest } = mutation;
  const lasting = stage.phase === "held" || stage.phase === "parked" ? stage : ({ phase: "queued" } as const);
  return { ...rest, attempts: 0, landed: [], stage: lasting, ...(seq !== undefined && { seq }) };
}

export const fromStored = (stored: StoredMutation): Mutation => ({ ...stored, seq: stored.seq });

export const storedRow = (model: string, id: string, row: LogRow): StoredRow => ({ ...row, model: tableOf(model), id });

/** The rows, or the part of a snapshot that was kept of them. */
export function fromStoredRows(
  stored: readonly StoredRow[],
  { logId, position, stamp, cursor }: Partial<StoredMeta> = {},
): { rows: Rows; partial?: PartialSnapshot } {
  if (logId === undefined || (position === undefined && !cursor)) return { rows: noRows };
  const changes = stored.map(({ model, id, ...value }): RowChange => ({ record: { model, id }, value }));
  const tables = changeTables({}, changes);
  if (position !== undefined) return { rows: { tables, logId, position } };
  return { rows: noRows, partial: { logId, stamp: stamp ?? 0, cursor: cursor ?? "", tables } };
}
