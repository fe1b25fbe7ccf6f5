import { type CommitLanes, createCommitLanes } from "../flows/commits/commit-lanes.ts";
import { countCommits } from "../flows/commits/count-commits.ts";
import { readCommit } from "../flows/commits/read-commit.ts";
import type { Drained } from "../flows/commits/round-result.ts";
import { submitCommits } from "../flows/sources/submit-commits.ts";
import { commitRoutes } from "../http/routes/commits.ts";
import type { PlaneContext } from "./context.ts";
import type { Hubs } from "./hubs.ts";
import type { OpenModules } from "./modules.ts";
import type { Part } from "./part.ts";
import type { Reads } from "./reads.ts";
import type { Sources } from "./sources.ts";

export interface Commits extends Part {
  readonly routes: ReturnType<typeof commitRoutes>;
  readonly lanes: CommitLanes;
  /** Publishes what was taken from a tenant's attached tables. */
  recorded(tenant: number, drained: Drained): void;
}

/** Commits and claims are decided in the lanes. Afterwards, each round is published here and to other processes. */
export function openCommits(
  ctx: PlaneContext,
  { hub }: Hubs,
  { after, changed: announceChange }: Pick<OpenModules, "after" | "changed">,
  { ask }: Pick<Sources, "ask">,
  { seeRecord }: Pick<Reads, "seeRecord">,
): Commits {
  const { options, database, limits, cacheBytes, schemas, hooks, url, verify, wake, pool, usage, publicUrl, report } =
    ctx;
  const recorded: Commits["recorded"] = (tenant, { from, to, changed }) => {
    if (to > from) {
      lanes.moved(tenant, to);
      hub.hint(tenant, to);
      after(tenant, to - from);
      wake.log(tenant, to);
    }
    for (const module of changed) announceChange({ module, tenant });
  };
  const lanes: CommitLanes = createCommitLanes({
    ...{ url, verify, schemas, modules: hooks.inRounds },
    recordBytes: limits.recordBytes,
    commitBytes: limits.commitBytes,
    headBytes: cacheBytes / 8,
    lockMs: database.lockMs,
    ...(options.laneCommits !== undefined && { maxCommits: options.laneCommits }),
    announce: (batch) => {
      hub.committed(batch);
      after(batch.tenant, batch.entries.length);
      wake.log(batch.tenant, batch.to);
    },
    announceChange,
    recorded,
    took: (ms) => ctx.roundTook(ms / 1_000),
    report: report("round_failed"),
  });
  wake.subscribe({
    log: (tenant, position) => {
      if (position !== undefined) lanes.moved(tenant, position);
    },
  });
  return {
    lanes,
    recorded,
    routes: commitRoutes(countCommits(submitCommits(lanes, ask), usage), publicUrl.docUrl, readCommit(pool, seeRecord)),
    forget: lanes.forget,
    close: lanes.close,
  };
}
