import type { CommitLane } from "./commit-lane.ts";
import type { UsageCounter } from "./count-usage.ts";

/** A lane that counts what was confirmed for the first time: a replay is the same commit, and a held one wrote nothing. */
export const countCommits = (lane: CommitLane, usage: UsageCounter): CommitLane => ({
  ...lane,
  async submit(job) {
    const result = await lane.submit(job);
    const [first] = job;
    if (result.kind !== "judged" || !first) return result;
    const confirmed = result.judged.filter(({ decision }) => decision.kind === "confirmed");
    if (confirmed.length === 0) return result;
    const { world } = first.principal;
    usage.add(world, "commits", confirmed.length);
    usage.add(
      world,
      "operations",
      confirmed.reduce((sum, { commit }) => sum + commit.operations.length, 0),
    );
    return result;
  },
});
