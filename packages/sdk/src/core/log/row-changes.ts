import { jsonEqual } from "../../protocol/json-equal.ts";
import type { SnapshotLine } from "../../protocol/log/snapshot.ts";
import { ownValue } from "../../protocol/own-value.ts";
import type { LogRow, RowChange, Rows } from "./rows.ts";
import { changeTables } from "./tables.ts";

/** Reuses previous row objects whose data is unchanged, so that views of them do not render again. */
export function withSameData(tables: Rows["tables"], before: Rows["tables"]): Rows["tables"] {
  const same: RowChange[] = [];
  for (const [model, table] of Object.entries(tables)) {
    const old = ownValue(before, model);
    if (!old || old === table) continue;
    for (const [id, row] of table.entries()) {
      const data = old.get(id)?.data;
      if (data && data !== row.data && jsonEqual(data, row.data))
        same.push({ record: { model, id }, value: { ...row, data } });
    }
  }
  return changeTables(tables, same);
}

/** The rows of a page of a snapshot. Few participants write many rows: each name is kept once. */
export function rowChanges(lines: readonly SnapshotLine[]): RowChange[] {
  const names = new Map<string, string>();
  return lines.map((line) => rowChange(line, (name) => keptOnce(names, name)));
}

/** The first of equal texts. */
export function keptOnce(texts: Map<string, string>, text: string): string {
  const known = texts.get(text);
  if (known === undefined) texts.set(text, text);
  return known ?? text;
}

export function rowChange(line: SnapshotLine, once = (name: string): string => name): RowChange {
  const { model, id, data, syncId, archivedAt = null, createdAt, createdBy, updatedAt, updatedBy } = line;
  const value: LogRow = {
    data,
    archivedAt,
    syncId,
    createdAtMs: msOf(createdAt),
    createdBy: createdBy === undefined ? undefined : once(createdBy),
    updatedAtMs: msOf(updatedAt),
    updatedBy: updatedBy === undefined ? undefined : once(updatedBy),
  };
  return { record: { model, id }, value };
}

/** Numbers take a third of the memory of texts. */
const msOf = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time));
