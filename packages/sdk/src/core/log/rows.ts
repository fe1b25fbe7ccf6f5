import type { Row } from "../../protocol/commits/apply.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { LogEntry } from "../../protocol/log/log.ts";
import type { SnapshotLine } from "../../protocol/log/snapshot.ts";
import { jsonEqual } from "../json-equal.ts";
import { changeTables, lookUp, type RecordChange, type RecordRef, recordKey, type Tables } from "./tables.ts";

/** A record as the log has it. */
export interface LogRow extends Row {
  /** Position of its last entry. */
  readonly syncId: number;
}

/** The log's side of what is shown: nothing of this client's own that the log has not said. */
export interface Rows {
  readonly tables: Tables<LogRow>;
  /** The log that `position` counts in. Undefined until a snapshot was read. */
  readonly logId: string | undefined;
  readonly position: number | undefined;
  /** Under which of the server's changes of records without an entry they were read; those of another are read anew. */
  readonly rowsVersion?: number | undefined;
  /** Under which of the server's views they were read (`viewHash`); those of another view are read anew. */
  readonly viewHash?: string | undefined;
  /** Which records of the log these are (`scopeKey`); absent: all that the token and the schema cover. */
  readonly scope?: string | undefined;
}

/** How far a snapshot has been read. */
export interface PartialSnapshot {
  readonly logId: string;
  readonly stamp: number;
  readonly rowsVersion?: number | undefined;
  readonly viewHash?: string | undefined;
  /** Where the next page begins. */
  readonly cursor: string;
  readonly tables: Rows["tables"];
  readonly scope?: string | undefined;
}

/** Which records are read: of these models, in one of these groups. What is absent does not narrow it. */
export interface Scope {
  readonly models?: readonly string[] | undefined;
  readonly groups?: readonly string[] | undefined;
}

export const noRows: Rows = { tables: {}, logId: undefined, position: undefined };

export interface RowChange extends RecordChange<LogRow> {
  /** The record was erased: nothing of it may stay on the disk. */
  readonly erased?: true;
}

/** Entries of the log that cover every position in (from, to]. */
export interface LogRange {
  readonly from: number;
  readonly to: number;
  readonly entries: readonly LogEntry[];
}

/** Reads a stretch of the log. Positions that were read before are skipped; "gap": positions before it are missing. */
export function readRange(rows: Rows, stretch: LogRange): { rows: Rows; changes: RowChange[] } | "gap" | "known" {
  const { position } = rows;
  if (position === undefined || stretch.to <= position) return "known";
  if (stretch.from > position) return "gap";
  const latest = new Map<string, RowChange>();
  for (const entry of stretch.entries) {
    if (entry.syncId <= position) continue;
    const record: RecordRef = { model: entry.model, id: entry.id };
    const key = recordKey(record);
    const known = latest.get(key);
    const before = known ? known.value : lookUp(rows.tables, record);
    // A row of a snapshot may be newer than the position that the log is read from.
    if (before && before.syncId >= entry.syncId) continue;
    latest.set(key, { record, value: rowAfter(before, entry), ...(entry.verb === "erased" && { erased: true }) });
  }
  const changes = [...latest.values()];
  return { rows: { ...rows, tables: changeTables(rows.tables, changes), position: stretch.to }, changes };
}

/** Rows that were read anew, with the objects that were there where they say the same: nothing of those is drawn again. */
export function withSameData(tables: Rows["tables"], before: Rows["tables"]): Rows["tables"] {
  const same: RowChange[] = [];
  for (const [model, table] of Object.entries(tables)) {
    const old = before[model];
    if (!old || old === table) continue;
    for (const [id, row] of table.entries()) {
      const data = old.get(id)?.data;
      if (data && data !== row.data && jsonEqual(data, row.data))
        same.push({ record: { model, id }, value: { ...row, data } });
    }
  }
  return changeTables(tables, same);
}

function rowAfter(before: LogRow | undefined, entry: LogEntry): LogRow | undefined {
  const data = entry.data as JsonObject | null;
  switch (entry.verb) {
    case "deleted":
    case "erased":
      return undefined;
    case "created":
    case "unarchived":
      return data ? { data, archivedAt: null, syncId: entry.syncId } : undefined;
    case "updated":
      return data ? { data, archivedAt: before?.archivedAt ?? null, syncId: entry.syncId } : undefined;
    case "archived":
      return data ? { data, archivedAt: entry.createdAt, syncId: entry.syncId } : undefined;
  }
}

export function rowChange({ model, id, data, syncId, archivedAt }: SnapshotLine): RowChange {
  return { record: { model, id }, value: { data, archivedAt: archivedAt ?? null, syncId } };
}
