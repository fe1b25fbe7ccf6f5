import { limits } from "@holdfast/sdk/protocol";
import { countClaims, loadWaits, saveClaims } from "../../db/claims/claims.ts";
import type { LockedHead } from "../../db/commits/heads.ts";
import type { Pipe } from "../../db/connection/pipe.ts";
import type { Statement } from "../../db/connection/statement.ts";
import { lockTokens, readEndedTokens } from "../../db/tokens/scoped-tokens.ts";
import { type ClaimQueue, holderName } from "../../rules/claims/claim.ts";
import type { AcquireClaim } from "../../rules/claims/claim-order.ts";
import { claimsRound } from "../../rules/claims/claims-round.ts";
import { type ClaimsState, claimsOf } from "../../rules/claims/claims-state.ts";
import { recordKey } from "../../rules/commits/commit-request.ts";
import type { RoundModule, TenantState } from "../../rules/commits/tenant-state.ts";
import { nameOf } from "../../rules/tokens/participant.ts";
import type { Job } from "../commits/job.ts";

/* The claims of tenants in a round of commits. Their queues are read in its first round trip (`load-round.ts`). */

/** No claim of the tenant is known, and none is asked for. */
export const noClaimsAt = (head: LockedHead): RoundModule & ClaimsState =>
  stateAt(head, [], { held: new Map(), waits: [], revokedTokens: new Set() });

/** With what the jobs ask of claims. `queues`: of the records that they name. */
export async function claimsAt(
  pipe: Pipe,
  head: LockedHead,
  jobs: readonly Job[],
  queues: ClaimQueue,
): Promise<RoundModule & ClaimsState> {
  return stateAt(head, queues, {
    waits: await waitsFor(pipe, head.tenant, jobs, queues),
    held: await claimsHeld(pipe, head, jobs),
    revokedTokens: await revokedTokens(pipe, jobs),
  });
}

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

interface TenantAfter {
  readonly tenant: number;
  readonly state: TenantState;
}

/** The tenants whose claims the round has changed. */
export const withChangedClaims = <T extends TenantAfter>(tenants: readonly T[]): readonly T[] =>
  tenants.filter(({ state }) => claimsOf(state).changed.size > 0);

/** Writes the changed claims of these tenants, and how far their numbers have come. */
export const saveChangedClaims = (tenants: readonly TenantAfter[]): Statement<void> =>
  saveClaims(
    tenants.flatMap(({ state, tenant }) => [...claimsOf(state).changed.values()].map((one) => ({ ...one, tenant }))),
    tenants.map(({ state, tenant }) => ({ tenant, ...claimNumbers(state) })),
  );

/** The head of a tenant has these two numbers of its claims. */
export function claimNumbers(state: TenantState): Pick<LockedHead, "claimChange" | "claims"> {
  const { change: claimChange, count: claims } = claimsOf(state);
  return { claimChange, claims };
}

/**
 * Loads the wait graph. It is needed only if a queue is reordered, or a claimant is about to wait for a record that is
 * claimed or is claimed in this same round.
 */
async function waitsFor(pipe: Pipe, tenant: number, jobs: readonly Job[], queues: ClaimQueue) {
  const acquiring = jobs.flatMap(({ order }) => (order?.kind === "acquire" ? order : []));
  const reordering = jobs.flatMap(({ order }) => (order?.kind === "reorder" ? order : []));
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
  const asking = jobs.flatMap(({ order }) => (order?.kind === "acquire" ? order.principal : []));
  if (asking.length === 0 || claims + asking.length <= limits.claimsPerParticipant) return new Map();
  const names = asking.map(nameOf);
  return (await pipe.send([countClaims(tenant, [...new Set(names)])]))[0];
}

/**
 * A process caches tokens for a while. Checks under lock that none was revoked meanwhile, so that a revoked token gets
 * no claim.
 */
async function revokedTokens(pipe: Pipe, jobs: readonly Job[]): Promise<ReadonlySet<string>> {
  const tokens = jobs.flatMap(({ order }) => (order?.kind === "acquire" ? order.principal : []));
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
