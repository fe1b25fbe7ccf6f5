import type { Database } from "../../../kernel/connection/pool.ts";
import { followCatalog } from "./follow-catalog.ts";
import { type ListedTable, listTables } from "./list-tables.ts";
import { markUnreadable } from "./mark-unreadable.ts";

export interface WatchDeps {
  readonly pool: Database;
  /** 5 000 by default. */
  readonly everyMs?: number;
  /** Called once for each table that is broken, or broken in another way than before. */
  broken(table: ListedTable, problem: string): void;
  /** Called when it is as its model says again. */
  mended(table: ListedTable): void;
  failed(error: unknown): void;
}

/**
 * Looks whether the attached tables of a database are as their models say, so that an operator hears of one that is not,
 * and readers are told which cannot be read; and whether they were changed otherwise than by writes of rows, so that
 * clients read them again.
 */
export function watchTables({ pool, everyMs = 5_000, broken, mended, failed }: WatchDeps): () => Promise<number> {
  let next = 0;
  /** By tenant and model: what was reported. */
  let known: ReadonlyMap<string, string> = new Map();
  /** By tenant: the models that are noted as unreadable. */
  const marked = new Map<number, string>();

  async function mark(tables: readonly ListedTable[]): Promise<void> {
    for (const tenant of new Set(tables.map((table) => table.tenant))) {
      const unreadable = tables.filter((one) => one.tenant === tenant && !one.isReadable).map(({ model }) => model);
      if (marked.get(tenant) === unreadable.join()) continue;
      try {
        await markUnreadable(pool, tenant, unreadable);
        marked.set(tenant, unreadable.join());
      } catch (error) {
        // It is noted the next time.
        failed(error);
      }
    }
  }

  return async () => {
    if (performance.now() < next) return next - performance.now();
    next = performance.now() + everyMs;
    await followCatalog(pool);
    const found = new Map<string, string>();
    const tables = await listTables(pool);
    await mark(tables);
    for (const table of tables) {
      const key = `${table.organization} ${table.environment} ${table.model}`;
      const before = known.get(key);
      if (table.problem === null) {
        if (before !== undefined) mended(table);
        continue;
      }
      found.set(key, table.problem);
      if (before !== table.problem) broken(table, table.problem);
    }
    known = found;
    return everyMs;
  };
}
