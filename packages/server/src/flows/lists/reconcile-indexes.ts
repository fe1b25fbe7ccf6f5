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

/** Limit over all tenants: each index makes every write to the record table more expensive. */
const MOST_INDEXES = 200;

export interface Reconciled {
  /** False: another process is running this, possibly with an older view of the schemas. */
  readonly done: boolean;
  readonly created: number;
  readonly dropped: number;
  /** Fields whose lists get no index, because the limit is reached. */
  readonly refused: readonly string[];
}

/**
 * Creates the indexes of the server's large tables and those that tenants' schemas declare, and drops those that no
 * schema declares any more. Runs outside migrations, pushes and transactions: a concurrent index build is impossible in
 * a transaction, and may take minutes. If a step fails, the next run repairs it.
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
