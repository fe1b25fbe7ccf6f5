import { openPipe } from "../db/connection/pipe.ts";
import { collectChanges } from "../flows/tables/collect-changes.ts";
import type { ListedTable } from "../flows/tables/list-tables.ts";
import { watchTables } from "../flows/tables/watch-tables.ts";
import { startRepeating } from "../workers/repeat.ts";
import type { Commits } from "./commits.ts";
import type { PlaneContext } from "./context.ts";
import type { Part } from "./part.ts";

/** How long a run waits for a head that a round of commits holds. */
const LOCK_MS = 1_000;

/** Tables of the callers' own in this database: what their SQL changes comes into the log. */
export function openTables(ctx: PlaneContext, { publishDrained }: Commits): Part {
  const { url, limits, pool, verify, schemas, hooks, report, logger } = ctx;
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
  const repeating = startRepeating(collector.collect, failed);
  const watching = startRepeating(
    watchTables({
      pool,
      failed,
      broken: (table, problem) => logger.warn({ event: "table_broken", ...fieldsOf(table) }, problem),
      mended: (table) =>
        logger.info({ event: "table_mended", ...fieldsOf(table) }, `${table.name} is as its model says again.`),
    }),
    failed,
  );
  return {
    async close() {
      await watching.stop();
      await repeating.stop();
      await collector.close();
    },
  };
}

const fieldsOf = ({ name, model, organization, environment }: ListedTable) => ({
  ...{ table: name, model, organization, environment },
});
