import { type JsonObject, jsonEqual, ownValue } from "@holdfast/sdk/protocol";

/** A row of the table, or what the log said last of it, by the record's id. */
export interface ComparedRow {
  readonly id: string;
  readonly data: JsonObject;
}

/**
 * The rows of which the log said something else last. Values are compared as JSON values: 1.50 and 1.5 are one number.
 * What the log has never named counts as equal.
 */
export function differentRows(rows: readonly ComparedRow[], said: readonly ComparedRow[]): readonly string[] {
  const byId = new Map(said.map(({ id, data }) => [id, data]));
  return rows.flatMap(({ id, data }) => {
    const before = byId.get(id);
    const isSame =
      !before || Object.entries(data).every(([name, value]) => jsonEqual(ownValue(before, name) ?? null, value));
    return isSame ? [] : id;
  });
}
