import type { Transaction } from "../connection/transaction.ts";

/**
 * Indexes of tables that grow with every commit, by name. No migration makes these: the server could not start before all of
 * the table was read. It works without them, only slower, and builds them beside its writes.
 */
const INDEXES: ReadonlyMap<string, string> = new Map([
  // Erasing looks for values in receipts of held commits.
  ["receipt_held", "on holdfast.receipt (tenant) where held"],
]);

/** Builds those that are not there, and those whose building failed. Answers how many. Only for who may change indexes. */
export async function buildLargeTableIndexes(client: Transaction): Promise<number> {
  const { rows } = await client.query<{ name: string; valid: boolean }>(
    `select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
     where c.relnamespace = 'holdfast'::regnamespace and c.relname = any($1)`,
    [[...INDEXES.keys()]],
  );
  const stored = new Map(rows.map(({ name, valid }) => [name, valid]));
  const missing = [...INDEXES].filter(([name]) => stored.get(name) !== true);
  for (const [name, definition] of missing) {
    if (stored.has(name)) await client.query(`drop index concurrently if exists holdfast.${name}`);
    await client.query(`create index concurrently ${name} ${definition}`);
  }
  return missing.length;
}
