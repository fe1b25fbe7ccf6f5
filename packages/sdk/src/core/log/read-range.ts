import type { JsonObject } from "../../protocol/json.ts";
import type { LogEntry } from "../../protocol/log/log.ts";
import { meetsConditions } from "../../protocol/log/meets-conditions.ts";
import { ownValue } from "../../protocol/own-value.ts";
import type { ClientState } from "../state.ts";
import { partsLeft } from "./parts.ts";
import type { LogRange, LogRow, RowChange, Rows, Scope } from "./rows.ts";
import { scopeKey, scopeOf } from "./scope-key.ts";
import { changeTables, lookUp, type RecordRef, recordKey, refOf, tableOf } from "./tables.ts";

/**
 * Applies a range of the log. Skips positions that were read before; "gap": positions before the range are missing.
 * `changes` are those of the rows at the position, as they are stored.
 */
export function readRange(rows: Rows, range: LogRange): { rows: Rows; changes: RowChange[] } | "gap" | "known" {
  const { position } = rows;
  if (position === undefined || range.to <= position) return "known";
  if (range.from > position) return "gap";
  const before = atPosition(rows);
  const latest = new Map<string, RowChange>();
  for (const entry of range.entries) {
    if (entry.syncId <= position) continue;
    const record: RecordRef = { model: entry.model, id: entry.id };
    const key = recordKey(record);
    const known = latest.get(key);
    const row = known ? known.value : lookUp(before.tables, record);
    // A snapshot row may be newer than the position from which the log is read.
    if (row && row.syncId >= entry.syncId) continue;
    // Also if a new record with the same id follows: what is on disk under its key belongs to the erased one.
    const erased = (entry.verb === "erased" || known?.erased) && ({ erased: true } as const);
    latest.set(key, { record, value: rowAfter(row, entry), ...erased });
  }
  const changes = [...latest.values()];
  const read = { ...before, tables: changeTables(before.tables, changes), position: range.to };
  return { rows: withAhead(read, shownAhead(rows)), changes };
}

/**
 * Adds the rows of parts that were read at the rows' position or later. What is in none of the parts that are `reached`
 * goes. `changes` are those of the rows at the position, as they are stored.
 */
export function withPartsRead(
  rows: Rows,
  { read, reached, models }: { readonly read: Rows["tables"]; readonly reached: Scope } & Pick<ClientState, "models">,
): { rows: Rows; changes: RowChange[] } {
  const before = atPosition(rows);
  const changes: RowChange[] = [];
  for (const [model, parts] of Object.entries(partsLeft(scopeOf(rows.scope), reached))) {
    const table = tableOf(model);
    for (const [id, { data }] of ownValue(before.tables, table)?.entries() ?? [])
      if (!parts.some((part) => meetsConditions(part, models[table], id, data)))
        changes.push({ record: { model, id }, value: undefined });
  }
  for (const [model, table] of Object.entries(read))
    for (const [id, value] of table.entries()) {
      const record = { model, id };
      const known = lookUp(before.tables, record);
      if (!known || known.syncId < value.syncId) changes.push({ record, value });
    }
  return { rows: withParts(rows, scopeKey(reached), changes), changes };
}

/** The rows with what new parts change in those at the position, which become rows of this scope. */
export function withParts(rows: Rows, scope: string, changes: readonly RowChange[]): Rows {
  const before = atPosition(rows);
  return withAhead({ ...before, tables: changeTables(before.tables, changes), scope }, shownAhead(rows));
}

function rowAfter(before: LogRow | undefined, entry: LogEntry): LogRow | undefined {
  const data = entry.data as JsonObject | null;
  if (!data) return undefined;
  const { syncId, createdAt } = entry;
  const by = `${entry.participantKind}:${entry.actor}`;
  const changed = (archivedAt: string | null): LogRow => ({
    ...{ data, archivedAt, syncId, ...madeBy(before, entry) },
    ...{ updatedAtMs: Date.parse(createdAt), updatedBy: by },
  });
  switch (entry.verb) {
    case "deleted":
    case "erased":
      return undefined;
    case "created":
      return {
        ...{ data, archivedAt: null, syncId, createdAtMs: Date.parse(createdAt), createdBy: by },
        ...{ updatedAtMs: undefined, updatedBy: undefined },
      };
    case "unarchived":
      return changed(null);
    case "updated":
      return changed(entry.archivedAt ?? before?.archivedAt ?? null);
    case "archived":
      return changed(entry.archivedAt ?? createdAt);
  }
}

/** An entry says it only if the client may not have seen the record before. */
function madeBy(before: LogRow | undefined, { record }: LogEntry): Pick<LogRow, "createdAtMs" | "createdBy"> {
  if (before?.createdBy !== undefined || !record)
    return { createdAtMs: before?.createdAtMs, createdBy: before?.createdBy };
  return { createdAtMs: Date.parse(record.createdAt), createdBy: record.createdBy };
}

/*
 * A tab may take rows from disk that end earlier than its own, because they were read under the view that it has now.
 * Until it has read the log up to its former position again, it shows its newer rows, so that no value goes back. These
 * rows are provisional: the view may not contain them. So a range of the log is applied to the rows at `position`, which
 * are those on disk.
 */

/** Shows these rows, as far as they are newer than the position. */
export function withAhead(rows: Rows, shown: readonly RowChange[]): Rows {
  const newer = shown.filter(({ record, value }) => {
    const from = Math.max(rows.position ?? 0, lookUp(rows.tables, record)?.syncId ?? 0);
    return value !== undefined && value.syncId > from;
  });
  if (newer.length === 0) return rows;
  const ahead = new Map(newer.map(({ record }) => [recordKey(record), lookUp(rows.tables, record)]));
  return { ...rows, tables: changeTables(rows.tables, newer), ahead };
}

/** The rows at their position, without those that are ahead of it. */
export function atPosition(rows: Rows): Rows {
  if (!rows.ahead) return rows;
  const { ahead, ...rest } = rows;
  const changes = [...ahead].map(([key, value]): RowChange => ({ record: refOf(key), value }));
  return { ...rest, tables: changeTables(rows.tables, changes) };
}

const shownAhead = ({ ahead, tables }: Rows): readonly RowChange[] =>
  [...(ahead?.keys() ?? [])].map((key) => ({ record: refOf(key), value: lookUp(tables, refOf(key)) }));
