import type { CommitProblem } from "../commits/commit-problem.ts";
import { isPlainObject } from "../json-problem.ts";
import { proposalLimits as limits } from "./proposal-limits.ts";

/** What is wrong with what a write says of its proposal. */
export function proposeProblem(propose: unknown): CommitProblem | undefined {
  if (propose === undefined || propose === true) return undefined;
  if (!isPlainObject(propose))
    return problem("propose", "propose must be true, or an object with branch and ttlSeconds.");
  const { branch, ttlSeconds, ...unknown } = propose;
  const [other] = Object.keys(unknown);
  if (other !== undefined) return problem(`propose.${other}`, "propose can have branch and ttlSeconds.");
  if (
    branch !== undefined &&
    !(typeof branch === "string" && new RegExp(`^[^\\s\\0]{1,${limits.branchLength}}$`).test(branch))
  )
    return problem("propose.branch", `A branch must have 1 to ${limits.branchLength} characters without spaces.`);
  const [least, most] = [limits.proposalTtlMinSeconds, limits.proposalTtlMaxSeconds];
  if (
    ttlSeconds !== undefined &&
    !(Number.isInteger(ttlSeconds) && Number(ttlSeconds) >= least && Number(ttlSeconds) <= most)
  )
    return problem("propose.ttlSeconds", `ttlSeconds must be a whole number from ${least} to ${most}.`);
  return undefined;
}

const problem = (param: string, message: string): CommitProblem => ({ code: "invalid_value", param, message });
