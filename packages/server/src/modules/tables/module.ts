import { openPipe } from "../../kernel/connection/pipe.ts";
import { startRepeating } from "../../kernel/workers/repeat.ts";
import type { Worker } from "../../kernel/workers/worker.ts";
import type { ModuleContext } from "../../open/context.ts";
import type { DatabaseModule, Module } from "../module.ts";
import { checkTables } from "./flows/check-tables.ts";
import { collectChanges } from "./flows/collect-changes.ts";
import type { ListedTable } from "./flows/list-tables.ts";
import { tablePlaces } from "./flows/table-places.ts";
import { tablesInRounds } from "./flows/tables-in-rounds.ts";
import { watchTables } from "./flows/watch-tables.ts";
import { measureTables } from "./measure-tables.ts";
import { TABLES } from "./rules/tenant-tables.ts";

/** How long a run waits for a head that a round of commits holds. */
const LOCK_MS = 1_000;

/** Tables of the callers' own, whose rows are records. */
export const tables = {
  name: TABLES,
  openIn,
  places: tablePlaces,
  checkModels: checkTables,
  inRounds: tablesInRounds,
  measure: measureTables,
} satisfies Module;

/** In one database: what SQL changes comes into the log, and what becomes of the tables is noticed. */
function openIn(ctx: ModuleContext): DatabaseModule {
  const { url, limits, pool, verify, schemas, hooks, publishDrained, report, logger } = ctx;
  const failed = report("collect_failed");
  const collector = collectChanges({
    pool,
    open: () => openPipe(url, { lockTimeoutMs: LOCK_MS, verify }),
    rules: {
      schemas,
      modules: hooks.inRounds,
      recordBytes: limits.recordBytes,
      commitBytes: limits.commitBytes,
      roundBytes: limits.commitBytes,
    },
    publishDrained,
    failed,
  });
  const watch = watchTables({
    pool,
    failed,
    broken: (table, problem) => logger.warn({ event: "table_broken", ...fieldsOf(table) }, problem),
    mended: (table) =>
      logger.info({ event: "table_mended", ...fieldsOf(table) }, `${table.name} matches its model again.`),
  });
  let working: readonly Worker[] = [];
  return {
    start() {
      working = [startRepeating(watch, failed), startRepeating(collector.collect, failed)];
    },
    async close() {
      for (const { stop } of working) await stop();
      await collector.close();
    },
  };
}

const fieldsOf = ({ name, model, organization, environment }: ListedTable) => ({
  ...{ table: name, model, organization, environment },
});
