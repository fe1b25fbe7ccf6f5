import type { UsageCounter } from "../../organizations/flows/count-usage.ts";
import type { SubmitCommits } from "./submit-commits.ts";

/**
 * Counts commits that are confirmed for the first time: a replay is the same commit, and a conflicted commit wrote nothing.
 */
export const countCommits =
  (submit: SubmitCommits, usage: UsageCounter): SubmitCommits =>
  async (commits, ...rest) => {
    const result = await submit(commits, ...rest);
    const [first] = commits;
    if (result.kind !== "judged" || !first) return result;
    const confirmed = result.judged.filter(({ decision }) => decision.kind === "confirmed");
    if (confirmed.length === 0) return result;
    const { tenant } = first.principal;
    usage.add(tenant, "commits", confirmed.length);
    usage.add(
      tenant,
      "operations",
      confirmed.reduce((sum, { commit }) => sum + commit.operations.length, 0),
    );
    return result;
  };
