import { type CommitLanes, createCommitLanes } from "../flows/commits/commit-lanes.ts";
import { countCommits } from "../flows/commits/count-commits.ts";
import { readCommit } from "../flows/commits/read-commit.ts";
import { commitRoutes } from "../http/routes/commits.ts";
import { ROUND_BOUNDS } from "../metrics/register-metrics.ts";
import type { ServerContext } from "./context.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Hubs } from "./hubs.ts";
import type { Part } from "./part.ts";

export interface Commits extends Part {
  readonly routes: ReturnType<typeof commitRoutes>;
  readonly lanes: CommitLanes;
}

/** Commits and claims are decided in the lanes. Afterwards, each round is published here and to other processes. */
export function openCommits(ctx: ServerContext, { hub, claimHub }: Hubs, deliveries: Deliveries): Commits {
  const { options, database, limits, cacheBytes, metrics, schemas, verify, wake, pool, usage, publicUrl, report } = ctx;
  const roundTook = metrics.histogram(
    "holdfast_round_seconds",
    "Time from a transaction's first request until its commit.",
    ROUND_BOUNDS,
  );
  const lanes = createCommitLanes({
    ...{ url: options.databaseUrl, verify, schemas },
    recordBytes: limits.recordBytes,
    commitBytes: limits.commitBytes,
    headBytes: cacheBytes / 8,
    lockMs: database.lockMs,
    ...(options.laneCommits !== undefined && { maxCommits: options.laneCommits }),
    announce: (batch) => {
      hub.committed(batch);
      deliveries.committed(batch.tenant, batch.entries.length);
      wake.log(batch.tenant, batch.to);
    },
    announceClaims: (tenant) => {
      claimHub.changed(tenant);
      wake.claims(tenant);
    },
    took: (ms) => roundTook(ms / 1_000),
    report: report("round_failed"),
  });
  wake.subscribe({
    log: (tenant, position) => {
      if (position !== undefined) lanes.moved(tenant, position);
    },
  });
  return {
    lanes,
    routes: commitRoutes(countCommits(lanes.submit, usage), publicUrl.docUrl, readCommit(pool)),
    forget: lanes.forget,
    close: lanes.close,
  };
}
