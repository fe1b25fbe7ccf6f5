import {
  analyzeRecords,
  claimIndexing,
  createIndex,
  dropIndex,
  indexName,
  readIndexedFields,
  readIndexes,
  withIndexer,
} from "../db/record-indexes.ts";
import { isIndexable, planIndexes } from "../rules/index-plan.ts";

/** Limit over all tenants: each index makes every write to the record table more expensive. */
const MOST_INDEXES = 200;

export interface Reconciled {
  /** False: another process is running this, possibly with an older view of the schemas. */
  readonly done: boolean;
  readonly created: number;
  readonly dropped: number;
  /** Fields whose lists get no index, because the limit is reached. */
  readonly refused: readonly string[];
  /** Fields whose index could not be built, and why. */
  readonly failed: readonly string[];
}

/**
 * Creates the indexes that tenants' schemas declare, and drops those that no schema declares any more. Runs outside migrations, pushes and transactions: a concurrent index build is impossible in
 * a transaction, and may take minutes. If a step fails, the next run repairs it.
 */
export const reconcileIndexes = (url: string, signal: AbortSignal): Promise<Reconciled> =>
  withIndexer(url, signal, async (client) => {
    if (!(await claimIndexing(client))) return { done: false, created: 0, dropped: 0, refused: [], failed: [] };
    const fields = (await readIndexedFields(client)).filter(isIndexable);
    const byName = new Map(fields.map((field) => [indexName(field), field]));
    const byTenant = new Map<number, string[]>();
    for (const field of fields) byTenant.set(field.tenant, [...(byTenant.get(field.tenant) ?? []), indexName(field)]);
    const { drop, create, refused } = planIndexes([...byTenant.values()], await readIndexes(client), MOST_INDEXES);
    for (const name of drop) await dropIndex(client, name);
    const nameOf = (name: string) => `${byName.get(name)?.model}.${byName.get(name)?.field}`;
    const failed: string[] = [];
    for (const name of create)
      try {
        await createIndex(client, byName.get(name) as (typeof fields)[number]);
      } catch (error) {
        if (signal.aborted) throw error;
        // A value that cannot be indexed takes the index from its own model only.
        failed.push(`${nameOf(name)}: ${(error as Error).message}`);
        await dropIndex(client, name);
      }
    if (create.length > failed.length) await analyzeRecords(client);
    return {
      ...{ done: true, created: create.length - failed.length, dropped: drop.length },
      ...{ refused: refused.map(nameOf), failed },
    };
  });
