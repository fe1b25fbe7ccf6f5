import { lockHead } from "../../../kernel/commits/db/heads.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import { insertSchema, readSchema } from "../../../kernel/schema/db/model-schemas.ts";

/** A schema whose rows have another version makes every client of the tenant read its rows again. */
export async function tellToReadAgain(tx: Transaction, tenant: number, version: number): Promise<void> {
  const schema = await readSchema(tx, tenant, version);
  if (schema) await insertSchema(tx, tenant, { ...schema, version: version + 1, rowsVersion: version + 1 });
}

export async function tellAllToReadAgain(tx: Transaction, tenant: number): Promise<void> {
  const { schemaVersion } = await lockHead(tx, tenant);
  await tellToReadAgain(tx, tenant, schemaVersion);
}
