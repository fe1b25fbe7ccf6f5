import { recordKey } from "../../../kernel/commits/rules/commit-request.ts";
import type { TenantState } from "../../../kernel/commits/rules/tenant-state.ts";
import { advanceQueue } from "./advance-queue.ts";
import type { ClaimQueue } from "./claim.ts";
import type { ClaimOrder } from "./claim-order.ts";
import { claimsOf } from "./claims-state.ts";
import { type ClaimContext, type ClaimDecision, decideClaim } from "./decide-claim.ts";
import { waitsIn } from "./wait-graph.ts";

/** Judges a claim order in its place among the commits of the round, and applies it to the state. */
export function judgeClaim(state: TenantState, order: ClaimOrder): ClaimDecision {
  const key = recordKey(order.model, order.record);
  const queue = claimsOf(state).queues.get(key) ?? [];
  const decision = decideClaim(queue, order, claimTenant(state, key, order.model));
  replaceQueue(state, key, queue, decision.queue);
  return decision;
}

/** Brings the claims of a record up to date after the record has changed. */
export function advanceClaims(state: TenantState, key: string): void {
  const queue = claimsOf(state).queues.get(key);
  if (queue) replaceQueue(state, key, queue, advanceQueue(queue, claimTenant(state, key, queue[0]?.model ?? "")));
}

function claimTenant(state: TenantState, key: string, model: string): ClaimContext {
  const now = Date.parse(state.now);
  const claims = claimsOf(state);
  const declared = state.models.get(model);
  return {
    now,
    // A record of an undeclared model counts as deleted, so its claims are canceled.
    groups: declared && state.records.get(key)?.groups,
    declaredName: declared?.name ?? model,
    revokedTokens: claims.revokedTokens,
    claimsHeld: claims.held,
    syncId: state.head.syncId,
    nextFence: () => {
      claims.change += 1;
      return claims.change;
    },
    get waitsElsewhere() {
      const others = [...claims.queues].flatMap(([other, queue]) => (other === key ? [] : waitsIn(queue, now)));
      return [...claims.waits, ...others];
    },
  };
}

function replaceQueue(state: TenantState, key: string, before: ClaimQueue, after: ClaimQueue): void {
  const claims = claimsOf(state);
  const known = new Set(before);
  for (const claim of after.filter((one) => !known.has(one))) {
    claims.change += 1;
    claims.changed.set(claim.id, { claim, change: claims.change });
  }
  const living = after.filter(({ endedAt }) => endedAt === null);
  for (const { participant } of living.filter(({ id }) => !before.some((one) => one.id === id)))
    claims.held.set(participant, (claims.held.get(participant) ?? 0) + 1);
  claims.count += living.length - before.length;
  claims.queues.set(key, living);
}
