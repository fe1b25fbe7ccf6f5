import type { Transaction } from "../../connection/transaction.ts";

/** The key that signs page cursors, the same in every process. */
export async function readCursorKey(db: Transaction): Promise<Buffer> {
  const { rows } = await db.query<{ value: Buffer }>(
    "select value from holdfast.service_secret where name = 'page_cursor'",
  );
  if (!rows[0]) throw new Error("The database has no page cursor key: its migrations are incomplete.");
  return rows[0].value;
}
