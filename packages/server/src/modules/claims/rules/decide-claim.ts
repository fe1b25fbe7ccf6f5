import { limits } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import { organizationGroup } from "../../../kernel/schema/rules/sync-group.ts";
import { nameOf, type Principal } from "../../../kernel/tokens/rules/participant.ts";
import { isVisible } from "../../../kernel/tokens/rules/scope.ts";
import { advanceQueue, closed, granted, type QueueFacts, renewed } from "./advance-queue.ts";
import {
  type ClaimQueue,
  type ClaimState,
  holderName,
  holdersOf,
  inQueueOrder,
  isConflict,
  isSilent,
  isWaiting,
  presentClaim,
} from "./claim.ts";
import type { AcquireClaim, ClaimOrder } from "./claim-order.ts";
import { closesCircle, type Wait, waitsIn } from "./wait-graph.ts";

/** The result of an order. `queue` has every claim of the record that was open before, and the new one. */
export type ClaimDecision =
  | { readonly kind: "granted" | "renewed" | "waiting"; readonly claim: ClaimState; readonly queue: ClaimQueue }
  | { readonly kind: "released"; readonly count: number; readonly queue: ClaimQueue }
  | { readonly kind: "advanced"; readonly queue: ClaimQueue }
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly queue: ClaimQueue };

export interface ClaimContext extends QueueFacts {
  /** The model's name as declared. */
  readonly declaredName: string;
  /** The wait graph of the tenant's other records, as far as it may matter here. */
  readonly waitsElsewhere: readonly Wait[];
  readonly revokedTokens: ReadonlySet<string>;
  /** By participant: the number of claims that have not ended. Filled only if the limit is near. */
  readonly claimsHeld: ReadonlyMap<string, number>;
}

/** Judges one order. The queue is brought up to date before, and again after a change that may free a claim. */
export function decideClaim(queue: ClaimQueue, order: ClaimOrder, tenant: ClaimContext): ClaimDecision {
  switch (order.kind) {
    case "advance":
      return { kind: "advanced", queue: advanceQueue(seen(queue, order.alive ?? [], tenant), tenant) };
    case "acquire":
      return acquire(queue, advanceQueue(heardOf(queue, order, tenant), tenant), order, tenant);
    case "renew":
      return renew(advanceQueue(heardOf(queue, order, tenant), tenant), order, tenant);
    case "release":
      return release(advanceQueue(queue, tenant), order, tenant);
    case "reorder":
      return reorder(advanceQueue(queue, tenant), order, tenant);
  }
}

const mine = (queue: ClaimQueue, principal: Principal): ClaimState[] =>
  alive(queue).filter(({ participant }) => participant === nameOf(principal));

const alive = (queue: ClaimQueue): ClaimState[] => queue.filter(({ endedAt }) => endedAt === null);

/** Records a sign of life of these waiters. */
const seen = (queue: ClaimQueue, alive: readonly string[], { now }: ClaimContext): ClaimQueue =>
  queue.map((claim) => (isWaiting(claim) && alive.includes(claim.id) ? { ...claim, seenAt: now } : claim));

/**
 * A request is a sign of life. It counts before the queue is brought up to date, so that the caller may be granted the
 * claim it waits for.
 */
function heardOf(queue: ClaimQueue, { principal, ...order }: { principal: Principal } & Named, { now }: ClaimContext) {
  const name = nameOf(principal);
  return queue.map((claim) =>
    isWaiting(claim) && claim.participant === name && isNamed(claim, order) ? { ...claim, seenAt: now } : claim,
  );
}

type Named = { readonly claimId: string; readonly field?: string | null; readonly clientId?: string | undefined };
const isNamed = (claim: ClaimState, { claimId, field, clientId }: Named) =>
  claim.id === claimId || (claim.field === field && claim.clientId === (clientId ?? null));

const replaced = (queue: ClaimQueue, ...changed: readonly ClaimState[]): ClaimQueue => {
  const byId = new Map(changed.map((claim) => [claim.id, claim]));
  const known = queue.map((claim) => byId.get(claim.id) ?? claim);
  return [...known, ...changed.filter(({ id }) => !queue.some((claim) => claim.id === id))];
};

function acquire(before: ClaimQueue, queue: ClaimQueue, order: AcquireClaim, tenant: ClaimContext): ClaimDecision {
  const { principal, field, preempt } = order;
  const clientId = order.clientId ?? null;
  if (tenant.revokedTokens.has(principal.tokenId)) return refused(refuse("token_revoked"), queue);
  if (!isReadable(principal, tenant)) return refused(refuse("record_not_found", { param: "id" }), queue);
  const known = mine(queue, principal).find((claim) => claim.field === field && claim.clientId === clientId);
  const wanted = known ? asked(known, order) : newClaim(order, queue, tenant);
  if (known?.status === "active") {
    const claim = renewed(wanted, wanted.ttlMs, tenant.now);
    // If bringing the queue up to date has just granted the claim, the caller is notified of a grant, not of a renewal.
    const kind = before.some(({ id, status }) => id === known.id && status === "active") ? "renewed" : "granted";
    return { kind, claim, queue: replaced(queue, claim) };
  }
  if (!known && (tenant.claimsHeld.get(nameOf(principal)) ?? 0) >= limits.claimsPerParticipant)
    return refused(refuse("too_many_claims"), queue);
  if (preempt) return takeOver(queue, wanted, principal, tenant);
  if (known) return { kind: "waiting", claim: wanted, queue: replaced(queue, wanted) };
  const blockers = inTheWayOf(queue, wanted, tenant.now);
  if (blockers.length === 0) return grant(queue, wanted, tenant);
  if (!order.queue) return refused(conflict(queue, tenant), queue);
  if (inQueueOrder(alive(queue)).length >= limits.claimsWaiting) return refused(refuse("claim_queue_full"), queue);
  const waits = [...tenant.waitsElsewhere, ...waitsIn(queue, tenant.now)];
  if (closesCircle(waits, holderName(wanted), blockers.map(holderName)))
    return refused(refuse("claim_deadlock", { claims: presentHolders(queue, tenant) }), queue);
  return { kind: "waiting", claim: wanted, queue: replaced(queue, wanted) };
}

const isReadable = ({ scope }: Principal, { groups, declaredName }: ClaimContext): boolean =>
  groups !== undefined && isVisible(scope, declaredName.toLowerCase(), groups);

const refused = (refusal: Refusal, queue: ClaimQueue): ClaimDecision => ({ kind: "refused", refusal, queue });

const presentHolders = (queue: ClaimQueue, { declaredName, now }: ClaimContext) =>
  holdersOf(queue, now).map((claim) => presentClaim(claim, declaredName, now));

const conflict = (queue: ClaimQueue, tenant: ClaimContext): Refusal =>
  refuse("claim_conflict", { claims: presentHolders(queue, tenant) });

function grant(queue: ClaimQueue, wanted: ClaimState, tenant: ClaimContext): ClaimDecision {
  const claim = granted(wanted, tenant);
  return { kind: "granted", claim, queue: replaced(queue, claim) };
}

/**
 * The conflicting holders, and the conflicting waiters that are not silent: a later claimant does not overtake them.
 */
const inTheWayOf = (queue: ClaimQueue, wanted: ClaimState, now: number): ClaimState[] =>
  [...holdersOf(queue, now), ...inQueueOrder(queue).filter((waiter) => !isSilent(waiter, now))].filter((other) =>
    isConflict(other, wanted),
  );

/** People and systems may take a claim from agents, ahead of the queue. A person's claim cannot be taken. */
function takeOver(queue: ClaimQueue, wanted: ClaimState, principal: Principal, tenant: ClaimContext): ClaimDecision {
  const { now, declaredName } = tenant;
  if (principal.participantKind === "agent") return refused(refuse("preempt_denied", { param: "preempt" }), queue);
  if (!mayWithClaims(principal, "preempt")) return refused(denied(principal, declaredName, "preempt"), queue);
  const holders = holdersOf(queue, now).filter((holder) => isConflict(holder, wanted));
  if (holders.some(({ participant }) => !participant.startsWith("agent:")))
    return refused(refuse("preempt_denied", { param: "preempt", claims: presentHolders(queue, tenant) }), queue);
  const claim = granted(wanted, tenant);
  return {
    kind: "granted",
    claim,
    queue: advanceQueue(
      replaced(queue, claim, ...holders.map((holder) => closed(holder, "preempted", tenant))),
      tenant,
    ),
  };
}

/** `*.*` covers operations on records only. Operations on other participants' claims have to be named explicitly. */
const mayWithClaims = ({ scope }: Principal, can: "preempt" | "reorder"): boolean =>
  scope === undefined || scope.operations.has(`claim.${can}`);

const denied = ({ scope, organization }: Principal, model: string, can: "preempt" | "reorder"): Refusal => {
  const syncGroup = scope?.groups?.values().next().value ?? organizationGroup(organization);
  return refuse("capability_scope_denied", { requiredCapability: { can, model, syncGroup, scope: `claim.${can}` } });
};

const newClaim = (order: AcquireClaim, queue: ClaimQueue, { now }: ClaimContext): ClaimState => ({
  id: order.claimId,
  model: order.model,
  record: order.record,
  field: order.field,
  status: "queued",
  participant: nameOf(order.principal),
  tokenId: order.principal.tokenId,
  clientId: order.clientId ?? null,
  groups: order.principal.scope?.groups ? [...order.principal.scope.groups] : null,
  action: order.action ?? "edit",
  description: order.description ?? null,
  meta: order.meta ?? null,
  attribution: order.attribution ?? null,
  ttlMs: order.ttlMs ?? limits.claimTtlMs,
  place: Math.max(0, ...queue.map(({ place }) => place)) + 1,
  fence: null,
  grantedSyncId: null,
  createdAt: now,
  grantedAt: null,
  expiresAt: null,
  endedAt: null,
  seenAt: now,
  revokedAt: null,
});

/** A repeated request replaces the values that it contains; the others stay. */
const asked = (claim: ClaimState, order: AcquireClaim): ClaimState => ({
  ...answeredFor(claim, order.principal),
  action: order.action ?? claim.action,
  description: order.description ?? claim.description,
  meta: order.meta ?? claim.meta,
  attribution: order.attribution ?? claim.attribution,
  ttlMs: order.ttlMs ?? claim.ttlMs,
});

/** A claim belongs to the token used last: revoking that token ends the claim, and that token's groups limit it. */
const answeredFor = (claim: ClaimState, { tokenId, scope }: Principal): ClaimState => ({
  ...claim,
  tokenId,
  groups: scope?.groups ? [...scope.groups] : null,
});

function renew(queue: ClaimQueue, order: Extract<ClaimOrder, { kind: "renew" }>, tenant: ClaimContext): ClaimDecision {
  const { principal } = order;
  const known = mine(queue, principal).find(({ id }) => id === order.claimId);
  // The former holder may have lost sight of the record, so the response names holders only if the caller may read it.
  if (!known)
    return refused(
      refuse("claim_lost", { claims: isReadable(principal, tenant) ? presentHolders(queue, tenant) : [] }),
      queue,
    );
  const kept = answeredFor(known, principal);
  // For a waiting claim, a renewal is only a sign of life.
  if (known.status === "queued") return { kind: "waiting", claim: kept, queue: replaced(queue, kept) };
  const claim = renewed(kept, order.ttlMs ?? known.ttlMs, tenant.now);
  return { kind: "renewed", claim, queue: replaced(queue, claim) };
}

function release(
  queue: ClaimQueue,
  order: Extract<ClaimOrder, { kind: "release" }>,
  tenant: ClaimContext,
): ClaimDecision {
  const own = mine(queue, order.principal).filter(
    ({ id, clientId }) =>
      (order.claimId === undefined || id === order.claimId) &&
      (order.clientId === undefined || clientId === order.clientId),
  );
  const gone = own.map((claim) => closed(claim, claim.status === "active" ? "released" : "canceled", tenant));
  return { kind: "released", count: gone.length, queue: advanceQueue(replaced(queue, ...gone), tenant) };
}

function reorder(
  queue: ClaimQueue,
  order: Extract<ClaimOrder, { kind: "reorder" }>,
  tenant: ClaimContext,
): ClaimDecision {
  const { principal } = order;
  if (!isReadable(principal, tenant)) return refused(refuse("record_not_found", { param: "id" }), queue);
  if (!mayWithClaims(principal, "reorder")) return refused(denied(principal, tenant.declaredName, "reorder"), queue);
  const waiters = inQueueOrder(alive(queue));
  const waiting = new Set(waiters.map(({ id }) => id));
  const stranger = order.order.findIndex((id) => !waiting.has(id));
  if (stranger >= 0) return refused(refuse("claim_not_found", { param: `order[${stranger}]` }), queue);
  const twice = order.order.findIndex((id, i) => order.order.indexOf(id) !== i);
  if (twice >= 0)
    return refused(
      refuse("invalid_value", { param: `order[${twice}]`, message: "The order names a claim twice." }),
      queue,
    );
  const named = order.order.map((id) => waiters.find((waiter) => waiter.id === id) as ClaimState);
  const next = [...named, ...waiters.filter(({ id }) => !order.order.includes(id))];
  const moved = next
    .map((waiter, i) => ({ ...waiter, place: (waiters[i] as ClaimState).place }))
    .filter(({ place }, i) => place !== (next[i] as ClaimState).place);
  const reordered = advanceQueue(replaced(queue, ...moved), tenant);
  if (hasCircle(waitsIn(reordered, tenant.now), tenant.waitsElsewhere))
    return refused(refuse("claim_deadlock", { claims: presentHolders(queue, tenant) }), queue);
  return { kind: "advanced", queue: reordered };
}

/** Whether a waiter of this queue would wait for itself, through the queues of other records. */
function hasCircle(own: readonly Wait[], elsewhere: readonly Wait[]): boolean {
  const waits = [...elsewhere, ...own];
  return [...new Set(own.map(({ waiter }) => waiter))].some((waiter) =>
    closesCircle(
      waits,
      waiter,
      own.filter((wait) => wait.waiter === waiter).map(({ blocker }) => blocker),
    ),
  );
}
