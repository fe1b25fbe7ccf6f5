import { hasRecords } from "../../../kernel/commits/db/records.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { RecordPlaces } from "../../../kernel/lists/flows/record-places.ts";
import { readAttachments } from "../db/attachments.ts";
import { isReadable } from "../rules/check-attached.ts";
import { awaitCaptured } from "./await-captured.ts";
import { relationOfTable, relationsOfTables } from "./table-relations.ts";

/** The records of models with tables are the rows of these. */
export const tablePlaces: RecordPlaces = {
  has: ({ table }) => table !== undefined,
  of: async (db, tenant) => relationsOfTables(await readAttachments(db, tenant)),
  filled,
  awaitLog: awaitCaptured,
};

async function filled(
  tx: Transaction,
  tenant: number,
  models: readonly string[],
): Promise<ReadonlyMap<string, boolean>> {
  const found = new Map<string, boolean>();
  for (const table of await readAttachments(tx, tenant))
    if (models.includes(table.model))
      // Of a table that cannot be read, nothing is hidden unasked.
      found.set(table.model, !isReadable(table) || (await hasRecords(tx, tenant, table.model, relationOfTable(table))));
  return found;
}
