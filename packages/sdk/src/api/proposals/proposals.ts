import { localError } from "../../errors.ts";
import type { Lazy } from "../lazy.ts";
import type { WriteDeps } from "../writes/write.ts";
import type { decideProposal } from "./decide-proposal.ts";
import type { LiveProposals } from "./live-proposals.ts";
import type { ProposalsApi } from "./proposals-api.ts";

/** What is loaded later. */
export interface ProposalCode {
  readonly proposals: LiveProposals;
  readonly decideProposal: typeof decideProposal;
}

/** `client.proposals`. */
export function proposalsOn(
  deps: WriteDeps,
  code: Pick<Lazy<ProposalCode>, "now" | "whenLoaded">,
  usable: () => Promise<ProposalCode>,
): ProposalsApi {
  function decider(): typeof decideProposal {
    const there = code.now();
    if (!there) throw localError("part_not_loaded", "The client is still loading: it cannot decide yet.");
    return there.decideProposal;
  }
  return {
    list: async (query = {}) => (await usable()).proposals.list(query),
    get: async (id) => (await usable()).proposals.get(id),
    subscribe: (query, listener) => code.whenLoaded(({ proposals }) => proposals.subscribe(query, listener)),
    accept: (proposal, options) => decider()(deps, proposal, "accept", options),
    reject: (proposal, options) => decider()(deps, proposal, "reject", options),
    withdraw: async ({ id }, { reason } = {}) => (await usable()).proposals.withdraw(id, reason),
  };
}
