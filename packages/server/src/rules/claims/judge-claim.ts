import { recordKey } from "../commits/commit-request.ts";
import type { TenantState } from "../commits/tenant-state.ts";
import { advanceQueue } from "./advance-queue.ts";
import type { ClaimQueue } from "./claim.ts";
import type { ClaimOrder } from "./claim-order.ts";
import { type ClaimContext, type ClaimDecision, decideClaim } from "./decide-claim.ts";
import { waitsIn } from "./wait-graph.ts";

/** Judges a claim order in its place among the commits of the round, and applies it to the state. */
export function judgeClaim(state: TenantState, order: ClaimOrder): ClaimDecision {
  const key = recordKey(order.model, order.record);
  const queue = state.claims.get(key) ?? [];
  const decision = decideClaim(queue, order, claimTenant(state, key, order.model));
  replaceQueue(state, key, queue, decision.queue);
  return decision;
}

/** Brings the claims of a record up to date after the record has changed. */
export function advanceClaims(state: TenantState, key: string): void {
  const queue = state.claims.get(key);
  if (queue) replaceQueue(state, key, queue, advanceQueue(queue, claimTenant(state, key, queue[0]?.model ?? "")));
}

function claimTenant(state: TenantState, key: string, model: string): ClaimContext {
  const now = Date.parse(state.now);
  const declared = state.models.get(model);
  return {
    now,
    // A record of an undeclared model counts as deleted, so its claims are canceled.
    groups: declared && state.records.get(key)?.groups,
    declaredName: declared?.name ?? model,
    revokedTokens: state.revokedTokens,
    claimsHeld: state.claimsHeld,
    syncId: state.head.syncId,
    nextFence: () => {
      state.claimChange += 1;
      return state.claimChange;
    },
    get waitsElsewhere() {
      const others = [...state.claims].flatMap(([other, queue]) => (other === key ? [] : waitsIn(queue, now)));
      return [...state.waits, ...others];
    },
  };
}

function replaceQueue(state: TenantState, key: string, before: ClaimQueue, after: ClaimQueue): void {
  const known = new Set(before);
  for (const claim of after.filter((one) => !known.has(one))) {
    state.claimChange += 1;
    state.changedClaims.set(claim.id, { claim, change: state.claimChange });
  }
  const living = after.filter(({ endedAt }) => endedAt === null);
  for (const { participant } of living.filter(({ id }) => !before.some((one) => one.id === id)))
    state.claimsHeld.set(participant, (state.claimsHeld.get(participant) ?? 0) + 1);
  state.claimCount += living.length - before.length;
  state.claims.set(key, living);
}
