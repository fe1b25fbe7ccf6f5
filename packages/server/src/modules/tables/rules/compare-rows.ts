import { type JsonObject, jsonEqual, ownValue } from "@holdfast/sdk/protocol";

/** A row of the table, or what the log said last of it, by the record's id. */
export interface ComparedRow {
  readonly id: string;
  readonly data: JsonObject;
  /** Undefined: the table does not say whether it is archived. */
  readonly archived?: boolean | undefined;
  /** Why `data` is empty, if it is too large to be read. */
  readonly unreadable?: string;
}

/**
 * The rows of which the log said something else last. Values are compared as JSON values: 1.50 and 1.5 are one number.
 * What the log has never named counts as equal.
 */
export function differentRows(rows: readonly ComparedRow[], said: readonly ComparedRow[]): readonly string[] {
  const byId = new Map(said.map((row) => [row.id, row]));
  return rows.flatMap(({ id, data, archived, unreadable }) => {
    const before = byId.get(id);
    if (before && (before.unreadable === undefined) !== (unreadable === undefined)) return id;
    const isSame =
      !before ||
      ((archived === undefined || archived === before.archived) &&
        Object.entries(data).every(([name, value]) => jsonEqual(ownValue(before.data, name) ?? null, value)));
    return isSame ? [] : id;
  });
}
