import { reconcileIndexes } from "../kernel/lists/flows/reconcile-indexes.ts";
import { prune } from "../kernel/log/flows/prune.ts";
import type { Part } from "../kernel/part.ts";
import { finishAllRewriting } from "../kernel/schema/flows/rewrite-records.ts";
import { startIndexer } from "../kernel/workers/indexer.ts";
import { startPruner } from "../kernel/workers/pruner.ts";
import type { DatabaseContext } from "./context.ts";

/** A receipt is kept for as long as its idempotency key is remembered. */
const KEPT = { receiptDays: 30, tokenDays: 30, usageDays: 400, claimDays: 7, attemptDays: 30 };
const HOUR_MS = 3_600_000;
const INDEXER_TIMES = { everyMs: 600_000, busyMs: 5_000, failedMs: 60_000 };
/** Lists of a tenant are slower until its rewriting is finished. */
const REWRITER_TIMES = { everyMs: 60_000, busyMs: 2_000, failedMs: 5_000 };

/**
 * Periodic work without a request: builds indexes, finishes rewriting rows, and deletes expired data.
 */
export interface Maintenance extends Part {
  /** A schema was pushed: fields may need an index, and prepared records may have to move into their rows. */
  schemaChanged(): void;
}

export function openMaintenance({ options, url, pool, logger, report }: DatabaseContext): Maintenance {
  const { logRetentionDays, pruneEveryMs = HOUR_MS } = options;
  const indexer = startIndexer(
    async (signal) => {
      const { done, refused, failed, ...changed } = await reconcileIndexes(url, signal);
      if (changed.created + changed.dropped > 0)
        logger.info({ event: "indexed", ...changed }, "Indexes were created or dropped.");
      if (refused.length > 0)
        logger.warn(
          { event: "too_many_indexes", refused },
          "These fields have no index, because the limit is reached.",
        );
      if (failed.length > 0) logger.error({ event: "index_failed", failed }, "These fields have no index.");
      return done;
    },
    INDEXER_TIMES,
    report("index_failed"),
  );
  const rewriter = startIndexer((signal) => finishAllRewriting(pool, signal), REWRITER_TIMES, report("rewrite_failed"));
  const pruner = startPruner(
    () => prune(pool, { ...KEPT, logDays: logRetentionDays }),
    pruneEveryMs,
    report("prune_failed"),
  );
  return {
    schemaChanged: () => {
      indexer.wake();
      rewriter.wake();
    },
    close: async () => void (await Promise.all([pruner.stop(), indexer.stop(), rewriter.stop()])),
  };
}
