import { Type } from "typebox";
import { CommitReceipt } from "../commits/commit.ts";
import type { EndpointSchema } from "../endpoint-schema.ts";
import { limits } from "../limits.ts";
import { ListEnvelope } from "../lists/list.ts";
import type { EndpointName } from "../paths.ts";
import { wholeNumber } from "../query-parameters.ts";
import { AcceptBody, EndProposalBody, PROPOSAL_STATUSES, Proposal } from "./proposal.ts";
import { RevertBody, Reverted } from "./revert.ts";

const PARTICIPANT = "^(user|agent|system):[^\\s]{1,255}$";

/** Proposals: writes that wait for a decision. */
export const proposalEndpoints = {
  listProposals: {
    summary: "List the proposals that the caller can read, oldest first",
    audience: "token",
    query: {
      status: {
        description: `${PROPOSAL_STATUSES.join(", ")}, or \`all\`. Default \`open\`.`,
        schema: Type.String({ pattern: `^(${PROPOSAL_STATUSES.join("|")}|all)$` }),
      },
      model: { description: "Only those on records of this model." },
      id: { description: "With `model`: only those on this record." },
      author: {
        description: "Only those of this participant, `<kind>:<id>`.",
        schema: Type.String({ pattern: PARTICIPANT }),
      },
      run: {
        description: "Only those of this run.",
        schema: Type.String({ minLength: 1, maxLength: limits.runLength }),
      },
      branch: {
        description: "Only those of this branch.",
        schema: Type.String({ minLength: 1, maxLength: limits.branchLength }),
      },
      limit: { description: "1 to 100, default 20.", schema: wholeNumber(1, limits.listMax, limits.listDefault) },
      starting_after: { description: "`next_cursor` of the previous page." },
    },
    reply: { 200: ListEnvelope(Proposal) },
    errors: ["invalid_cursor", "unknown_model", "missing_field"],
  },
  readProposal: {
    summary: "Read a proposal",
    audience: "token",
    reply: { 200: Proposal },
    errors: ["proposal_not_found"],
  },
  acceptProposal: {
    summary: "Accept a proposal: write it, or a part of it, in one commit",
    audience: "token",
    body: AcceptBody,
    bodyOptional: true,
    reply: { 200: CommitReceipt },
    errors: ["proposal_not_found", "proposal_ended", "own_proposal", "already_exists", "invalid_sync_group"],
  },
  rejectProposal: {
    summary: "Reject a proposal",
    audience: "token",
    body: EndProposalBody,
    bodyOptional: true,
    reply: { 200: Proposal },
    errors: ["proposal_not_found", "proposal_ended", "own_proposal", "idempotency_conflict"],
  },
  withdrawProposal: {
    summary: "Withdraw a proposal of the caller's own",
    audience: "token",
    body: EndProposalBody,
    bodyOptional: true,
    reply: { 200: Proposal },
    errors: ["proposal_not_found", "proposal_ended", "not_proposal_author", "idempotency_conflict"],
  },
  revertChanges: {
    summary: "Take changes back: of a run, of a commit, or at positions of the log",
    audience: "token",
    body: RevertBody,
    reply: { 200: Reverted },
    errors: ["missing_field", "resync_required", "too_many_operations"],
  },
} as const satisfies Partial<Record<EndpointName, EndpointSchema>>;
