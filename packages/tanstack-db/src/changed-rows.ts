/** What changed between two lists. Rows that did not change are the same objects. */
export type RowChange<Row> =
  | { readonly type: "insert" | "update"; readonly value: Row }
  | { readonly type: "delete"; readonly key: string };

/** Compares rows by identity, so that one changed row among thousands is one change. */
export function changedRows<Row extends { readonly id: string }>(
  before: ReadonlyMap<string, Row>,
  now: ReadonlyMap<string, Row>,
): RowChange<Row>[] {
  const changes: RowChange<Row>[] = [];
  for (const key of before.keys()) if (!now.has(key)) changes.push({ type: "delete", key });
  for (const [key, value] of now) {
    const old = before.get(key);
    if (old !== value) changes.push({ type: old ? "update" : "insert", value });
  }
  return changes;
}
