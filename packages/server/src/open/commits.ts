import { commitRoutes } from "../edge/http/routes/commits.ts";
import { type CommitLanes, createCommitLanes } from "../kernel/commits/flows/commit-lanes.ts";
import { countCommits } from "../kernel/commits/flows/count-commits.ts";
import { readCommit } from "../kernel/commits/flows/read-commit.ts";
import type { PublishDrained } from "../kernel/commits/flows/round-result.ts";
import { type SubmitCommits, submitCommits } from "../kernel/commits/flows/submit-commits.ts";
import type { Part } from "../kernel/part.ts";
import type { OpenModules } from "../modules/open-modules.ts";
import type { DatabaseContext } from "./context.ts";
import type { Hubs } from "./hubs.ts";
import type { Reads } from "./reads.ts";

export interface Commits extends Part {
  readonly lanes: CommitLanes;
  readonly publishDrained: PublishDrained;
}

/** Commits and claims are decided in the lanes. Afterwards, each round is published here and to other processes. */
export function openCommits(
  ctx: DatabaseContext,
  { hub }: Hubs,
  { after, changed: announceChange }: Pick<OpenModules, "after" | "changed">,
): Commits {
  const { options, database, limits, cacheBytes, schemas, hooks, url, verify, wake, report } = ctx;
  const publishDrained: Commits["publishDrained"] = (tenant, { from, to, changed }) => {
    if (to > from) {
      lanes.moved(tenant, to);
      hub.reached(tenant, to);
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
    publishDrained,
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
    publishDrained,
    forget: lanes.forget,
    close: lanes.close,
  };
}

/** As requests submit them: to the lanes, or to modules that take them, and counted. */
export const submitAndCount = (
  { usage }: DatabaseContext,
  { lanes }: Commits,
  { takers }: Pick<OpenModules, "takers">,
): SubmitCommits => countCommits(submitCommits(lanes, takers), usage);

export const routesOfCommits = ({ pool, publicUrl }: DatabaseContext, submit: SubmitCommits, { seeRecord }: Reads) =>
  commitRoutes(submit, publicUrl.docUrl, readCommit(pool, seeRecord));
