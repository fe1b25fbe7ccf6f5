import { buildLargeTableIndexes } from "../../db/lists/large-table-indexes.ts";
import {
  analyzeRecords,
  claimIndexing,
  createIndex,
  dropIndex,
  indexName,
  readIndexedFields,
  readIndexes,
  withIndexer,
} from "../../db/lists/record-indexes.ts";
import { planIndexes } from "../../rules/lists/index-plan.ts";
import { isScalar } from "../../rules/lists/list-column.ts";

/** Of all tenants together: an index costs every write to the table of records. */
const MOST_INDEXES = 200;

export interface Reconciled {
  /** False: another process is at it just now, and has perhaps not seen what we have. */
  readonly done: boolean;
  readonly created: number;
  readonly dropped: number;
  /** Fields whose lists stay without an index: there are too many. */
  readonly refused: readonly string[];
}

/**
 * Makes the indexes of our own large tables and those that the schemas of all tenants declare, and takes away those that
 * none declares any more. Outside of migrations, the push and of every transaction: an index is built beside the writes, which a transaction cannot, and may take minutes.
 * What fails in between is found and mended the next time.
 */
export const reconcileIndexes = (url: string, signal: AbortSignal): Promise<Reconciled> =>
  withIndexer(url, signal, async (client) => {
    if (!(await claimIndexing(client))) return { done: false, created: 0, dropped: 0, refused: [] };
    const built = await buildLargeTableIndexes(client);
    const fields = (await readIndexedFields(client)).filter(isScalar);
    const byName = new Map(fields.map((field) => [indexName(field), field]));
    const byTenant = new Map<number, string[]>();
    for (const field of fields) byTenant.set(field.tenant, [...(byTenant.get(field.tenant) ?? []), indexName(field)]);
    const { drop, create, refused } = planIndexes([...byTenant.values()], await readIndexes(client), MOST_INDEXES);
    for (const name of drop) await dropIndex(client, name);
    for (const name of create) await createIndex(client, byName.get(name) as (typeof fields)[number]);
    if (create.length > 0) await analyzeRecords(client);
    return {
      done: true,
      created: built + create.length,
      dropped: drop.length,
      refused: refused.map((name) => `${byName.get(name)?.model}.${byName.get(name)?.field}`),
    };
  });
