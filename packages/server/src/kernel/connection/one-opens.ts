import type { Transaction } from "./transaction.ts";

const LOCK = 4_270_011;

/** Until this transaction ends, no other process of the service makes tables for modules in this database. */
export async function oneOpens(tx: Transaction): Promise<void> {
  await tx.query("select pg_advisory_xact_lock($1)", [LOCK]);
}
