import type { Answer } from "../../limits/answer-bytes.ts";
import type { CommitRequest } from "../rules/commit-request.ts";
import type { CommitLanes, JobResult, SubmitResult } from "./commit-lanes.ts";

/** Submits the commits of one request, all of one tenant. `bytes`: of the request. Never rejects. */
export type SubmitCommits<Result = JobResult> = (
  commits: readonly CommitRequest[],
  bytes?: number,
  answer?: Answer,
) => Promise<Result>;

/** How a module submits the commits of tenants that it takes; those of others it hands on. */
export type TakeCommits = (next: SubmitCommits<SubmitResult>) => SubmitCommits<SubmitResult>;

/** To the lanes, or to the modules that take them. */
export function submitCommits({ submit }: Pick<CommitLanes, "submit">, takers: readonly TakeCommits[]): SubmitCommits {
  const inLanes: SubmitCommits<SubmitResult> = (commits, bytes, answer) => submit(commits, bytes, answer?.share());
  const toAll = takers.reduceRight((next, take) => take(next), inLanes);
  return async (...request) => {
    const result = await toAll(...request);
    if (result.kind === "taken") throw new Error(`The module "${result.by}" took a commit, but did not submit it.`);
    return result;
  };
}
