import { isRecordId, limits, type Proposal } from "@holdfast/sdk/protocol";
import { readHead } from "../../../kernel/commits/db/heads.ts";
import { recordKey } from "../../../kernel/commits/rules/commit-request.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import type { PageCursors } from "../../../kernel/lists/flows/page-cursor.ts";
import { type PlacedRecords, presentGroups } from "../../../kernel/lists/flows/present-groups.ts";
import { isRefusal, type Refusal, refuse } from "../../../kernel/refusal.ts";
import { schemaAt } from "../../../kernel/schema/flows/live-schema.ts";
import type { SchemaCache } from "../../../kernel/schema/flows/schema-cache.ts";
import { organizationGroup } from "../../../kernel/schema/rules/sync-group.ts";
import type { Principal } from "../../../kernel/tokens/rules/participant.ts";
import { checkModel, deny, type Lack } from "../../../kernel/tokens/rules/scope.ts";
import {
  listProposals,
  type ProposalPlace,
  type ProposalQuestion,
  readChanged,
  readProposal,
} from "../db/proposals.ts";
import { isVisibleTo, presentProposal, type StoredProposal } from "../rules/proposal.ts";

export interface ProposalFlows {
  list(by: Principal, asked: AskedProposals): Promise<ProposalPage | Refusal>;
  read(by: Principal, id: string): Promise<Proposal | Refusal>;
  /** As it is stored, for the one who is going to accept it. */
  find(by: Principal, id: string): Promise<StoredProposal | Refusal>;
  /** Those of the last so many milliseconds. */
  changedSince(tenant: number, ms: number): Promise<readonly ChangedProposal[]>;
  /** Resolves with whether a reader may see one of them. */
  sightOf(tenant: number, proposals: readonly ChangedProposal[]): Promise<(reader: Principal) => boolean>;
}

/** A proposal that was made, decided, or has expired. */
export type ChangedProposal = Pick<StoredProposal, "id" | "status" | "records">;

export interface AskedProposals extends Omit<ProposalQuestion, "tenant" | "after" | "bytes"> {
  readonly cursor: string | undefined;
}

export interface ProposalPage {
  readonly proposals: readonly Proposal[];
  readonly nextCursor: string | null;
}

/** Candidates that one request looks at, shown or not. */
const MOST_EXAMINED = 1_000;

export interface ProposalsIn {
  readonly db: Database;
  readonly elsewhere: PlacedRecords;
  readonly schemas: SchemaCache;
  readonly cursors: PageCursors;
}

/** Reads proposals, and ends them without writing them. */
export function proposalFlows({ db, elsewhere, schemas, cursors }: ProposalsIn): ProposalFlows {
  const presentOf = (tenant: number, proposals: readonly ChangedProposal[]) => {
    const records = proposals.flatMap((proposal) => proposal.records);
    const names = [...new Map(records.map((one) => [recordKey(one.model, one.id), one])).values()];
    return presentGroups(db, elsewhere, tenant, names);
  };

  async function visible<P extends ChangedProposal>(by: Principal, proposals: readonly P[]): Promise<readonly P[]> {
    if (by.scope === undefined) return proposals;
    const present = await presentOf(by.tenant, proposals);
    return proposals.filter((proposal) => isVisibleTo(by.scope, proposal, present));
  }

  async function find(by: Principal, id: string): Promise<StoredProposal | Refusal> {
    const found = isRecordId(id) ? await readProposal(db, { tenant: by.tenant, id }) : undefined;
    const [seen] = found ? await visible(by, [found]) : [];
    return seen ?? refuse("proposal_not_found", { param: "id" });
  }

  async function presenter({ tenant }: Principal): Promise<(proposal: StoredProposal) => Proposal> {
    const { schemaVersion, logId } = await readHead(db, tenant);
    const { models } = await schemaAt(db, schemas, tenant, schemaVersion);
    return (proposal) => presentProposal(proposal, models, logId);
  }

  return {
    find,
    changedSince: (tenant, ms) => readChanged(db, tenant, ms),
    async sightOf(tenant, proposals) {
      const present = await presentOf(tenant, proposals);
      return ({ scope }) => proposals.some((proposal) => isVisibleTo(scope, proposal, present));
    },
    async list(by, { cursor, ...asked }) {
      const hidden = asked.model === undefined ? undefined : checkModel(by, asked.model);
      if (hidden) return hidden;
      const context = JSON.stringify(["proposals", by.tenant, { ...asked, limit: 0 }]);
      const after = cursor === undefined ? undefined : (cursors.decode(context, cursor) as ProposalPlace | undefined);
      if (cursor !== undefined && !after) return refuse("invalid_cursor", { param: "starting_after" });
      const present = await presenter(by);
      const page: StoredProposal[] = [];
      let place = after;
      let hasMore = true;
      for (let examined = 0; hasMore && page.length < asked.limit && examined < MOST_EXAMINED; ) {
        const limit = asked.limit - page.length;
        const next = await listProposals(db, {
          ...asked,
          ...{ tenant: by.tenant, after: place, limit, bytes: limits.pageBytes },
        });
        page.push(...(await visible(by, next.found)));
        const last = next.found.at(-1);
        place = last && { createdAt: last.createdAt, id: last.id };
        hasMore = next.hasMore && last !== undefined;
        examined += next.found.length;
        // It was cut where a page has enough bytes.
        if (next.found.length < limit && page.length > 0) break;
      }
      return { proposals: page.map(present), nextCursor: hasMore && place ? cursors.encode(context, place) : null };
    },
    async read(by, id) {
      const found = await find(by, id);
      return isRefusal(found) ? found : (await presenter(by))(found);
    },
  };
}

/** What a participant lacks who may not decide a proposal. */
export const denied = ({ organization, scope }: Principal, lack: Pick<Lack, "can" | "model">): Refusal =>
  deny({ ...lack, syncGroup: scope?.groups?.values().next().value ?? organizationGroup(organization) });
