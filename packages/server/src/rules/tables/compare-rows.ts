import { type JsonObject, jsonEqual, ownValue } from "@holdfast/sdk/protocol";

/** A row of the table, or a record, by the record's id. */
export interface ComparedRow {
  readonly id: string;
  readonly data: JsonObject;
}

export interface RowDifferences {
  /** Rows without a record. */
  readonly missing: readonly string[];
  /** Rows whose record has other values. */
  readonly different: readonly string[];
}

/** What the records lack of the rows. Values are compared as JSON values: 1.50 and 1.5 are one number. */
export function compareRows(rows: readonly ComparedRow[], records: readonly ComparedRow[]): RowDifferences {
  const byId = new Map(records.map(({ id, data }) => [id, data]));
  const missing: string[] = [];
  const different: string[] = [];
  for (const { id, data } of rows) {
    const record = byId.get(id);
    if (!record) missing.push(id);
    else if (!Object.entries(data).every(([name, value]) => jsonEqual(ownValue(record, name) ?? null, value)))
      different.push(id);
  }
  return { missing, different };
}
