import type { Row } from "../../protocol/commits/apply.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { jsonEqual } from "../../protocol/json-equal.ts";
import type { LogEntry } from "../../protocol/log/log.ts";
import type { SnapshotLine } from "../../protocol/log/snapshot.ts";
import { changeTables, lookUp, type RecordChange, type RecordRef, recordKey, type Tables } from "./tables.ts";

/** A record in the state that the log gives it. */
export interface LogRow extends Row {
  /** Position of its last log entry. */
  readonly syncId: number;
}

/** The state of the log, without pending writes of this client. */
export interface Rows {
  readonly tables: Tables<LogRow>;
  /** The log of `position`. Undefined until a snapshot has been read. */
  readonly logId: string | undefined;
  readonly position: number | undefined;
  /**
   * The version of the server's changes that have no log entry, such as schema pushes. Rows of another version are read
   * again.
   */
  readonly rowsVersion?: number | undefined;
  /** The view (`viewHash`) under which the rows were read. Rows of another view are read again. */
  readonly viewHash?: string | undefined;
  /** Which records these are (`scopeKey`). Absent: all that the token and the schema cover. */
  readonly scope?: string | undefined;
}

/** A snapshot that is not complete yet. */
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

/** Which records to read: those of these models, in one of these groups. An absent field does not filter. */
export interface Scope {
  readonly models?: readonly string[] | undefined;
  readonly groups?: readonly string[] | undefined;
}

export const noRows: Rows = { tables: {}, logId: undefined, position: undefined };

export interface RowChange extends RecordChange<LogRow> {
  /** The record was erased: none of its values may stay on disk. */
  readonly erased?: true;
}

/** Log entries that cover every position in (from, to]. */
export interface LogRange {
  readonly from: number;
  readonly to: number;
  readonly entries: readonly LogEntry[];
}

/** Applies a range of the log. Skips positions that were read before; "gap": positions before the range are missing. */
export function readRange(rows: Rows, range: LogRange): { rows: Rows; changes: RowChange[] } | "gap" | "known" {
  const { position } = rows;
  if (position === undefined || range.to <= position) return "known";
  if (range.from > position) return "gap";
  const latest = new Map<string, RowChange>();
  for (const entry of range.entries) {
    if (entry.syncId <= position) continue;
    const record: RecordRef = { model: entry.model, id: entry.id };
    const key = recordKey(record);
    const known = latest.get(key);
    const before = known ? known.value : lookUp(rows.tables, record);
    // A snapshot row may be newer than the position from which the log is read.
    if (before && before.syncId >= entry.syncId) continue;
    latest.set(key, { record, value: rowAfter(before, entry), ...(entry.verb === "erased" && { erased: true }) });
  }
  const changes = [...latest.values()];
  return { rows: { ...rows, tables: changeTables(rows.tables, changes), position: range.to }, changes };
}

/** Reuses previous row objects whose data is unchanged, so that views of them do not render again. */
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
