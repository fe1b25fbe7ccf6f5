import type { Transaction } from "../connection/transaction.ts";

/**
 * Indexes, by name, of tables that grow with every commit. They are not part of a migration, because the server could
 * not start before the whole table was read. The server works without them, only slower, and builds them concurrently
 * with writes.
 */
const INDEXES: ReadonlyMap<string, string> = new Map([
  // An erase searches the receipts of held commits for values.
  ["receipt_held", "on holdfast.receipt (tenant) where held"],
]);

/** Builds missing indexes, and those whose build has failed. Returns how many. Requires the indexing lock. */
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
