import { limits } from "@holdfast/sdk/protocol";
import type { LockedHead } from "../../../kernel/commits/db/heads.ts";
import type { RecordName } from "../../../kernel/commits/db/records.ts";
import type { InRounds, TenantAfter } from "../../../kernel/commits/flows/in-rounds.ts";
import { type Ask, commitsOf, type Job, tenantOf } from "../../../kernel/commits/flows/job.ts";
import { recordKey } from "../../../kernel/commits/rules/commit-request.ts";
import type { RoundModule, TenantState } from "../../../kernel/commits/rules/tenant-state.ts";
import type { Pipe } from "../../../kernel/connection/pipe.ts";
import type { Statement } from "../../../kernel/connection/statement.ts";
import { lockTokens, readEndedTokens } from "../../../kernel/tokens/db/scoped-tokens.ts";
import { nameOf } from "../../../kernel/tokens/rules/participant.ts";
import { countClaims, loadQueues, loadWaits, saveClaims } from "../db/claims.ts";
import { type ClaimQueue, type ClaimState, holderName } from "../rules/claim.ts";
import { type AcquireClaim, type ClaimOrder, tenantOfOrder } from "../rules/claim-order.ts";
import { claimsRound } from "../rules/claims-round.ts";
import { CLAIMS, type ClaimsState, claimsOf } from "../rules/claims-state.ts";
import type { ClaimDecision } from "../rules/decide-claim.ts";
import { judgeClaim } from "../rules/judge-claim.ts";

/** An order about claims, as a question for a round. */
export interface ClaimAsk extends Ask<ClaimOutcome> {
  readonly order: ClaimOrder;
}

export interface ClaimOutcome {
  readonly decision: ClaimDecision;
  /** The model's name as declared. */
  readonly declaredName: string;
  /** The database's time of the decision, in milliseconds since 1970. */
  readonly now: number;
}

export const claimAsk = (order: ClaimOrder): ClaimAsk => ({
  module: CLAIMS,
  tenant: tenantOfOrder(order),
  principal: order.kind === "advance" ? undefined : order.principal,
  model: order.model,
  record: order.record,
  order,
  decide: (state) => ({
    decision: judgeClaim(state, order),
    declaredName: state.models.get(order.model)?.name ?? order.model,
    now: Date.parse(state.now),
  }),
});

const ordersIn = (jobs: readonly Job[]): readonly ClaimOrder[] =>
  jobs.flatMap(({ ask }) => (ask?.module === CLAIMS ? (ask as ClaimAsk).order : []));

/** The claims of tenants in rounds of commits. What is found: the queues of the records that jobs name. */
export const claimsInRounds: InRounds<readonly QueuedClaim[]> = {
  name: CLAIMS,
  openLoad() {
    /** Tenants that had no active claim when this lane last read their head. */
    const unclaimed = new Set<number>();
    const ask = async (pipe: Pipe, jobs: readonly Job[]) => (await pipe.send([loadQueues(namedIn(jobs))]))[0];
    return {
      async begin(pipe, jobs) {
        const asks = ordersIn(jobs).length > 0 || jobs.some((job) => !unclaimed.has(tenantOf(job)));
        return asks ? ask(pipe, jobs) : undefined;
      },
      async end(pipe, jobs, heads, found) {
        for (const { tenant, claims } of heads)
          if (claims === 0) unclaimed.add(tenant);
          else unclaimed.delete(tenant);
        // The locked head may say that there are some now.
        return found ?? (heads.every(({ tenant }) => unclaimed.has(tenant)) ? [] : ask(pipe, jobs));
      },
    };
  },
  loadMore: async (pipe, records) => (await pipe.send([loadQueues(records)]))[0],
  together: (one, other) => [...one, ...other],
  async at(pipe, { head, jobs }, found) {
    const queues = found.filter(({ tenant }) => tenant === head.tenant);
    return stateAt(head, queues, {
      waits: await waitsFor(pipe, head.tenant, jobs, queues),
      held: await claimsHeld(pipe, head, jobs),
      revokedTokens: await revokedTokens(pipe, jobs),
    });
  },
  emptyAt: ({ head }) => stateAt(head, [], { held: new Map(), waits: [], revokedTokens: new Set() }),
  save(tenants) {
    const after = tenants.filter(({ state }) => claimsOf(state).changed.size > 0);
    return { statements: after.length > 0 ? [saveChanged(after)] : [], changed: after.map(({ tenant }) => tenant) };
  },
  headOf: claimNumbers,
};

type QueuedClaim = ClaimState & { readonly tenant: number };

/** The records that the jobs write or ask about. */
const namedIn = (jobs: readonly Job[]): readonly RecordName[] => [
  ...commitsOf(jobs).flatMap(({ principal: { tenant }, operations }) =>
    operations.map(({ model, id }) => ({ tenant, model, id })),
  ),
  ...ordersIn(jobs).map((order) => ({ tenant: tenantOfOrder(order), model: order.model, id: order.record })),
];

const stateAt = (
  { claimChange, claims }: LockedHead,
  queues: ClaimQueue,
  { held, ...known }: Pick<ClaimsState, "held" | "waits" | "revokedTokens">,
): RoundModule & ClaimsState =>
  claimsRound({
    ...known,
    held: new Map(held),
    queues: byRecord(queues),
    change: claimChange,
    count: claims,
    changed: new Map(),
  });

/** Writes the changed claims of these tenants, and how far their numbers have come. */
const saveChanged = (tenants: readonly TenantAfter[]): Statement<void> =>
  saveClaims(
    tenants.flatMap(({ state, tenant }) => [...claimsOf(state).changed.values()].map((one) => ({ ...one, tenant }))),
    tenants.map(({ state, tenant }) => ({ tenant, ...claimNumbers(state) })),
  );

/** The head of a tenant has these two numbers of its claims. */
function claimNumbers(state: TenantState): Pick<LockedHead, "claimChange" | "claims"> {
  const { change: claimChange, count: claims } = claimsOf(state);
  return { claimChange, claims };
}

/**
 * Loads the wait graph. It is needed only if a queue is reordered, or a claimant is about to wait for a record that is
 * claimed or is claimed in this same round.
 */
async function waitsFor(pipe: Pipe, tenant: number, jobs: readonly Job[], queues: ClaimQueue) {
  const acquiring = ordersIn(jobs).filter((order) => order.kind === "acquire");
  const reordering = ordersIn(jobs).filter((order) => order.kind === "reorder");
  const others = [...acquiring.filter(({ queue }) => queue), ...reordering].flatMap((order) => [
    ...queues.filter((claim) => isOfOneRecord(claim, order)),
    ...acquiring.filter((other) => other !== order && isOfOneRecord(other, order)).map(claimantOf),
  ]);
  if (others.length === 0) return [];
  const [waits] = await pipe.send([loadWaits(others.map((other) => ({ tenant, holder: holderName(other) })))]);
  const known = new Set(queues.map((claim) => recordKey(claim.model, claim.record)));
  // The round has loaded these records' queues itself, under the lock: its own state is newer.
  return waits.filter(({ model, record }) => !known.has(recordKey(model, record)));
}

/** Counts claims per participant only if the tenant has enough in total for one participant to reach the limit. */
async function claimsHeld(
  pipe: Pipe,
  { tenant, claims }: LockedHead,
  jobs: readonly Job[],
): Promise<Map<string, number>> {
  const asking = ordersIn(jobs).flatMap((order) => (order.kind === "acquire" ? order.principal : []));
  if (asking.length === 0 || claims + asking.length <= limits.claimsPerParticipant) return new Map();
  const names = asking.map(nameOf);
  return (await pipe.send([countClaims(tenant, [...new Set(names)])]))[0];
}

/**
 * A process caches tokens for a while. Checks under lock that none was revoked meanwhile, so that a revoked token gets
 * no claim.
 */
async function revokedTokens(pipe: Pipe, jobs: readonly Job[]): Promise<ReadonlySet<string>> {
  const tokens = ordersIn(jobs).flatMap((order) => (order.kind === "acquire" ? order.principal : []));
  if (tokens.length === 0) return new Set();
  const idsOf = (isSecret: boolean) =>
    [...new Set(tokens.filter(({ tokenKind }) => (tokenKind === "secret_key") === isSecret))].map(
      ({ tokenId }) => tokenId,
    );
  const [scoped, secret, ended] = await pipe.send([
    lockTokens("scoped_token", idsOf(false)),
    lockTokens("secret_key", idsOf(true)),
    readEndedTokens(tokens.map(({ tokenId }) => tokenId)),
  ]);
  return new Set([...scoped, ...secret, ...ended]);
}

type OfRecord = Pick<AcquireClaim, "model" | "record">;
const isOfOneRecord = (a: OfRecord, b: OfRecord): boolean => a.model === b.model && a.record === b.record;

const claimantOf = ({ principal, clientId }: AcquireClaim) => ({
  tenant: principal.tenant,
  participant: nameOf(principal),
  clientId: clientId ?? null,
});

function byRecord(claims: ClaimQueue): Map<string, ClaimQueue> {
  const entries = new Map<string, ClaimQueue>();
  for (const claim of claims) {
    const key = recordKey(claim.model, claim.record);
    const entry = entries.get(key) ?? [];
    // Two jobs of a round may name the same record.
    if (!entry.some(({ id }) => id === claim.id)) entries.set(key, [...entry, claim]);
  }
  return entries;
}
