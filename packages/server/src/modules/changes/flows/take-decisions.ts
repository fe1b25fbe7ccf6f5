import type { SubmitResult } from "../../../kernel/commits/flows/commit-lanes.ts";
import type { SubmitCommits, TakeCommits } from "../../../kernel/commits/flows/submit-commits.ts";
import type { CommitRequest, ProposalDecision } from "../../../kernel/commits/rules/commit-request.ts";
import { isRefusal, type Refusal, refuse } from "../../../kernel/refusal.ts";
import { nameOf, type Principal } from "../../../kernel/tokens/rules/participant.ts";
import { lackToDecide, type StoredProposal } from "../rules/proposal.ts";
import { takenOperations, takingOf } from "../rules/take.ts";
import { denied, type ProposalFlows } from "./proposal-flows.ts";

/** Commits that decide proposals get what their proposals say: whose they are, and why. */
export function takeDecisions(flows: Pick<ProposalFlows, "find">): TakeCommits {
  async function prepared(commit: CommitRequest): Promise<CommitRequest> {
    const { decides, principal } = commit;
    if (!decides) return commit;
    const found = await flows.find(principal, decides.id);
    const problem = isRefusal(found) ? found : mayNotDecide(principal, found, decides.how);
    if (problem) return { ...commit, decides: { ...decides, problem } };
    return decided(commit, decides, found as StoredProposal);
  }
  return (next): SubmitCommits<SubmitResult> =>
    async (commits, ...rest) =>
      await next(commits.some(({ decides }) => decides) ? await Promise.all(commits.map(prepared)) : commits, ...rest);
}

function decided(commit: CommitRequest, decides: ProposalDecision, found: StoredProposal): CommitRequest {
  const { id, author, attribution, operations, readAt } = found;
  if (decides.how !== "accept") return { ...commit, operations: operations.map(({ base: _, ...one }) => one) };
  const own = ownOperations(commit, found);
  if (isRefusal(own)) return { ...commit, decides: { ...decides, problem: own } };
  const taking = takingOf(operations, own);
  if (isRefusal(taking)) return { ...commit, decides: { ...decides, problem: taking } };
  return {
    ...commit,
    operations: own.map((one) => ({
      ...one,
      readAt: one.readAt ?? readAt,
      onStale: one.onStale ?? "notify",
    })),
    decides: { ...decides, ...taking },
    attribution: { ...attribution, proposal: id, proposedBy: author },
  };
}

/** Those that the commit has, or those that it takes of the proposal. */
const ownOperations = ({ operations, decides }: CommitRequest, found: StoredProposal) =>
  decides?.taking ? takenOperations(found.operations, decides.taking.take, asStale(decides.taking)) : operations;

const asStale = ({ onStale, readAt }: NonNullable<ProposalDecision["taking"]>) => ({
  ...(onStale && { onStale }),
  ...(readAt !== undefined && { readAt }),
});

function mayNotDecide(by: Principal, found: StoredProposal, how: ProposalDecision["how"]): Refusal | undefined {
  const isOwn = found.author === nameOf(by);
  if (how === "withdraw") return isOwn ? undefined : refuse("not_proposal_author", { param: "id" });
  if (isOwn) return refuse("own_proposal", { param: "id" });
  const lack = lackToDecide(by.scope, found);
  return lack && denied(by, lack);
}
