import { meetsConditions } from "../../protocol/log/meets-conditions.ts";
import { ownValue } from "../../protocol/own-value.ts";
import type { ClientState } from "../state.ts";
import { partsLeft } from "./parts.ts";
import { rowAfter } from "./row-after.ts";
import type { LogRange, RowChange, Rows, Scope } from "./rows.ts";
import { changeTables, lookUp, type RecordRef, recordKey, refOf, tableOf } from "./tables.ts";

/** Whether a range continues the rows. "gap": positions before it are missing. "known": it was read before. */
export function continues({ position }: Rows, range: LogRange): "on" | "gap" | "known" {
  if (position === undefined || range.to <= position) return "known";
  return range.from > position ? "gap" : "on";
}

/**
 * Applies a range of the log that continues the rows. Skips positions that were read before. `changes` are those of the
 * rows at the position, as they are stored.
 */
export function readRange(rows: Rows, range: LogRange): { rows: Rows; changes: RowChange[] } {
  const { position = 0 } = rows;
  const before = atPosition(rows);
  const latest = new Map<string, RowChange>();
  for (const entry of range.entries) {
    if (entry.syncId <= position) continue;
    const record: RecordRef = { model: entry.model, id: entry.id };
    const key = recordKey(record);
    const known = latest.get(key);
    const row = known ? known.value : lookUp(before.tables, record);
    // Also if a new record with the same id follows: what is on disk under its key belongs to the erased one.
    const erased = (entry.verb === "erased" || known?.erased) && ({ erased: true } as const);
    // A snapshot row may be newer than the position from which the log is read. The disk may lack it: a leader that read
    // it may have been killed before it was stored.
    const value = row && row.syncId >= entry.syncId ? row : rowAfter(row, entry);
    latest.set(key, { record, value, ...erased });
  }
  const changes = [...latest.values()];
  const read = { ...before, tables: changeTables(before.tables, changes), position: range.to };
  return { rows: withAhead(read, shownAhead(rows)), changes };
}

/**
 * Adds the rows of parts that were read at the rows' position or later. What is in none of the parts that are `reached`
 * goes. `changes` are those of the rows at the position, as they are stored.
 */
export function withPartsChanged(
  rows: Rows,
  { read, reached, models }: { readonly read: Rows["tables"]; readonly reached: Scope } & Pick<ClientState, "models">,
): { rows: Rows; changes: RowChange[] } {
  const before = atPosition(rows);
  const changes: RowChange[] = [];
  for (const [model, parts] of Object.entries(partsLeft(rows.scope ?? {}, reached))) {
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
  return { rows: withParts(rows, reached, changes), changes };
}

/** The rows with what new parts change in those at the position, which become rows of this scope. */
export function withParts(rows: Rows, scope: Scope, changes: readonly RowChange[]): Rows {
  const before = atPosition(rows);
  return withAhead({ ...before, tables: changeTables(before.tables, changes), scope }, shownAhead(rows));
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
