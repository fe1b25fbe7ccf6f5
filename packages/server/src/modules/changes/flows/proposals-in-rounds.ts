import { limits } from "@holdfast/sdk/protocol";
import type { InRounds, TenantAfter } from "../../../kernel/commits/flows/in-rounds.ts";
import { commitsOf, type Job } from "../../../kernel/commits/flows/job.ts";
import type { CommitRequest } from "../../../kernel/commits/rules/commit-request.ts";
import { proposalIdOf, proposes } from "../../../kernel/commits/rules/proposes.ts";
import type { RoundModule } from "../../../kernel/commits/rules/tenant-state.ts";
import type { Pipe } from "../../../kernel/connection/pipe.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import { nameOf } from "../../../kernel/tokens/rules/participant.ts";
import {
  type AuthorName,
  countOpen,
  type EndedProposal,
  eraseProposals,
  insertProposals,
  lockProposals,
  type NewProposal,
  type OpenProposal,
  saveDecided,
} from "../db/proposals.ts";
import { proposedOperations, proposedRecords } from "../rules/proposal.ts";

/** The name of the module. */
export const CHANGES = "changes";

export interface Found {
  /** Those that the round's commits decide. */
  readonly proposals: readonly OpenProposal[];
  /** How many open ones those have who propose. */
  readonly authors: readonly (AuthorName & { readonly open: number })[];
}

/** What a round makes, ends and erases. */
interface ProposalsRound extends RoundModule {
  readonly made: readonly NewProposal[];
  readonly decided: ReadonlyMap<string, EndedProposal>;
  readonly erased: readonly { readonly tenant: number; readonly model: string; readonly id: string }[];
}

const NOTHING: Found = { proposals: [], authors: [] };

/** Proposals in rounds of commits. A round without a commit that proposes or decides reads and writes nothing for them. */
export const proposalsInRounds: InRounds<Found> = {
  name: CHANGES,
  openLoad: () => ({
    begin: async (_pipe, jobs) => (concerns(jobs) ? undefined : NOTHING),
    end: async (pipe, jobs, _heads, found) => found ?? (await load(pipe, jobs)),
  }),
  together: (one, other) => ({
    proposals: [...one.proposals, ...other.proposals],
    authors: [...one.authors, ...other.authors],
  }),
  at: (_pipe, { head: { tenant } }, { proposals, authors }) =>
    roundOf(
      tenant,
      new Map(proposals.filter((one) => one.tenant === tenant).map((one) => [one.id, one])),
      new Map(authors.filter((one) => one.tenant === tenant).map(({ author, open }) => [author, open])),
    ),
  emptyAt: ({ jobs }) => (concerns(jobs) ? undefined : {}),
  save(tenants) {
    const after = tenants.map(({ tenant, state }) => ({ tenant, own: roundIn({ tenant, state }) }));
    const made = after.flatMap(({ own }) => own?.made ?? []);
    const decided = after.flatMap(({ own }) => [...(own?.decided?.values() ?? [])]);
    const erased = after.flatMap(({ own }) => own?.erased ?? []);
    return {
      statements: [
        ...(made.length > 0 ? insertProposals(made) : []),
        ...(decided.length > 0 ? [saveDecided(decided)] : []),
        ...(erased.length > 0 ? [eraseProposals(erased)] : []),
      ],
      changed: after.flatMap(({ tenant, own }) =>
        own && (own.made?.length || own.decided?.size || own.erased?.length) ? tenant : [],
      ),
    };
  },
};

const concerns = (jobs: readonly Job[]): boolean =>
  commitsOf(jobs).some((commit) => commit.decides !== undefined || proposes(commit));

async function load(pipe: Pipe, jobs: readonly Job[]): Promise<Found> {
  const commits = commitsOf(jobs);
  const names = commits.flatMap(({ decides, principal: { tenant } }) =>
    decides && !decides.problem ? { tenant, id: decides.id } : [],
  );
  const authors = new Map(
    commits.filter(proposes).map(({ principal }) => {
      const name = { tenant: principal.tenant, author: nameOf(principal) };
      return [`${name.tenant} ${name.author}`, name];
    }),
  );
  const [proposals] = names.length > 0 ? await pipe.send([lockProposals(names)]) : [[]];
  const [open] = authors.size > 0 ? await pipe.send([countOpen([...authors.values()])]) : [[]];
  return { proposals, authors: open };
}

const roundIn = ({ state }: TenantAfter): Partial<ProposalsRound> | undefined =>
  state.modules.get(CHANGES) as Partial<ProposalsRound> | undefined;

function roundOf(tenant: number, known: ReadonlyMap<string, OpenProposal>, open: Map<string, number>): ProposalsRound {
  const made: NewProposal[] = [];
  const decided = new Map<string, EndedProposal>();
  const erased: ProposalsRound["erased"][number][] = [];
  return {
    ...{ made, decided, erased },
    judgeCommit(commit) {
      if (commit.decides) return judgeOpen(known.get(commit.decides.id), decided.get(commit.decides.id));
      if (!proposes(commit)) return undefined;
      return (open.get(nameOf(commit.principal)) ?? 0) < limits.proposalsPerParticipant
        ? undefined
        : refuse("too_many_proposals");
    },
    committed({ now, head: { syncId } }, { decides, principal }) {
      if (!decides) return;
      const { id, how, reason, take, edited } = decides;
      const isAccepted = how === "accept";
      const end = {
        ...(reason !== undefined && { reason }),
        ...(take && { take }),
        ...(edited && { edited }),
        ...(isAccepted && { syncId }),
      };
      decided.set(id, {
        tenant,
        id,
        status: ENDED[how],
        by: nameOf(principal),
        at: now,
        end,
      });
    },
    proposed(state, commit, entries) {
      const author = nameOf(commit.principal);
      open.set(author, (open.get(author) ?? 0) + 1);
      made.push({
        ...proposalOf(commit),
        tenant,
        author,
        readAt: state.head.syncId,
        createdAt: state.now,
        operations: proposedOperations(state, commit),
        records: proposedRecords(state, entries),
      });
    },
    applied(_state, { verb, model, id }) {
      if (verb === "erased") erased.push({ tenant, model, id });
    },
  };
}

const ENDED = { accept: "accepted", reject: "rejected", withdraw: "withdrawn" } as const;

const proposalOf = (commit: CommitRequest) => ({
  id: proposalIdOf(commit),
  clientTxId: commit.clientTxId,
  branch: commit.propose?.branch ?? null,
  attribution: commit.attribution ?? null,
  ttlSeconds: commit.propose?.ttlSeconds ?? limits.proposalTtlSeconds,
});

function judgeOpen(known: OpenProposal | undefined, before: EndedProposal | undefined): Refusal | undefined {
  if (!known) return refuse("proposal_not_found", { param: "id" });
  if (before) return ended(before.status, before.by);
  return known.status === "open" ? undefined : ended(known.status, known.decidedBy);
}

/** One that is not open any more. */
const ended = (status: OpenProposal["status"], by: string | null): Refusal =>
  refuse("proposal_ended", {
    param: "id",
    message: by === null ? `The proposal is ${status}.` : `The proposal was ${status} by ${by}.`,
  });
