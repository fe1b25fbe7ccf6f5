import { limits } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../refusal.ts";
import { organizationGroup } from "../schema/sync-group.ts";
import { type Principal, participantName } from "../tokens/participant.ts";
import { isWithin, may } from "../tokens/scope.ts";
import {
  type ClaimLine,
  type ClaimState,
  holderName,
  holdersOf,
  inLineOrder,
  isConflict,
  isSilent,
  isWaiting,
  presentClaim,
} from "./claim.ts";
import type { AcquireClaim, ClaimOrder } from "./claim-order.ts";
import { closed, granted, type LineFacts, renewed, settleLine } from "./settle-queue.ts";
import { closesCircle, type Wait, waitsIn } from "./wait-graph.ts";

/** What came of an order. `line`: every claim of the record that was alive before, and the new one. */
export type ClaimDecision =
  | { readonly kind: "granted" | "renewed" | "waiting"; readonly claim: ClaimState; readonly line: ClaimLine }
  | { readonly kind: "released"; readonly count: number; readonly line: ClaimLine }
  | { readonly kind: "settled"; readonly line: ClaimLine }
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly line: ClaimLine };

export interface ClaimTenant extends LineFacts {
  /** As declared. */
  readonly declaredName: string;
  /** Who waits for whom on other records of the tenant, as far as it may matter here. */
  readonly waitsElsewhere: readonly Wait[];
  readonly revokedTokens: ReadonlySet<string>;
  /** By participant: claims of the tenant that have not ended, where they may be too many. */
  readonly claimsHeld: ReadonlyMap<string, number>;
}

const nameOf = ({ participantKind, participantId }: Principal): string =>
  participantName(participantKind, participantId);

/** Judges one order. The line is brought up to the present first, and again after what was done. */
export function decideClaim(line: ClaimLine, order: ClaimOrder, tenant: ClaimTenant): ClaimDecision {
  switch (order.kind) {
    case "settle":
      return { kind: "settled", line: settleLine(seen(line, order.alive ?? [], tenant), tenant) };
    case "acquire":
      return acquire(line, settleLine(heardOf(line, order, tenant), tenant), order, tenant);
    case "renew":
      return renew(settleLine(heardOf(line, order, tenant), tenant), order, tenant);
    case "release":
      return release(settleLine(line, tenant), order, tenant);
    case "reorder":
      return reorder(settleLine(line, tenant), order, tenant);
  }
}

const mine = (line: ClaimLine, principal: Principal): ClaimState[] =>
  alive(line).filter(({ participant }) => participant === nameOf(principal));

const alive = (line: ClaimLine): ClaimState[] => line.filter(({ endedAt }) => endedAt === null);

/** These waiters were heard of. */
const seen = (line: ClaimLine, alive: readonly string[], { now }: ClaimTenant): ClaimLine =>
  line.map((claim) => (isWaiting(claim) && alive.includes(claim.id) ? { ...claim, seenAt: now } : claim));

/** Asking is a sign of life: whoever waits for this may be its turn. */
function heardOf(line: ClaimLine, { principal, ...order }: { principal: Principal } & Named, { now }: ClaimTenant) {
  const name = nameOf(principal);
  return line.map((claim) =>
    isWaiting(claim) && claim.participant === name && isNamed(claim, order) ? { ...claim, seenAt: now } : claim,
  );
}

type Named = { readonly claimId: string; readonly field?: string | null; readonly clientId?: string | undefined };
const isNamed = (claim: ClaimState, { claimId, field, clientId }: Named) =>
  claim.id === claimId || (claim.field === field && claim.clientId === (clientId ?? null));

const replaced = (line: ClaimLine, ...changed: readonly ClaimState[]): ClaimLine => {
  const byId = new Map(changed.map((claim) => [claim.id, claim]));
  const known = line.map((claim) => byId.get(claim.id) ?? claim);
  return [...known, ...changed.filter(({ id }) => !line.some((claim) => claim.id === id))];
};

function acquire(before: ClaimLine, line: ClaimLine, order: AcquireClaim, tenant: ClaimTenant): ClaimDecision {
  const { principal, field, preempt } = order;
  const clientId = order.clientId ?? null;
  if (tenant.revokedTokens.has(principal.tokenId)) return refused(refuse("token_revoked"), line);
  if (!isReadable(principal, tenant)) return refused(refuse("record_not_found", { param: "id" }), line);
  const known = mine(line, principal).find((claim) => claim.field === field && claim.clientId === clientId);
  const wanted = known ? asked(known, order) : newClaim(order, line, tenant);
  if (known?.status === "active") {
    const claim = renewed(wanted, wanted.ttlMs, tenant.now);
    // Its turn may just have come: then that is what it hears.
    const kind = before.some(({ id, status }) => id === known.id && status === "active") ? "renewed" : "granted";
    return { kind, claim, line: replaced(line, claim) };
  }
  if (!known && (tenant.claimsHeld.get(nameOf(principal)) ?? 0) >= limits.claimsPerParticipant)
    return refused(refuse("too_many_claims"), line);
  if (preempt) return takeOver(line, wanted, principal, tenant);
  if (known) return { kind: "waiting", claim: wanted, line: replaced(line, wanted) };
  const blockers = inTheWayOf(line, wanted, tenant.now);
  if (blockers.length === 0) return grant(line, wanted, tenant);
  if (!order.queue) return refused(conflict(line, tenant), line);
  if (inLineOrder(alive(line)).length >= limits.claimsWaiting) return refused(refuse("claim_queue_full"), line);
  const waits = [...tenant.waitsElsewhere, ...waitsIn(line, tenant.now)];
  if (closesCircle(waits, holderName(wanted), blockers.map(holderName)))
    return refused(refuse("claim_deadlock", { claims: presentHolders(line, tenant) }), line);
  return { kind: "waiting", claim: wanted, line: replaced(line, wanted) };
}

const isReadable = ({ scope }: Principal, { groups, declaredName }: ClaimTenant): boolean =>
  groups !== undefined &&
  (scope === undefined || (may(scope, declaredName.toLowerCase(), "read") && isWithin(scope, groups)));

const refused = (refusal: Refusal, line: ClaimLine): ClaimDecision => ({ kind: "refused", refusal, line });

const presentHolders = (line: ClaimLine, { declaredName, now }: ClaimTenant) =>
  holdersOf(line, now).map((claim) => presentClaim(claim, declaredName, now));

const conflict = (line: ClaimLine, tenant: ClaimTenant): Refusal =>
  refuse("claim_conflict", { claims: presentHolders(line, tenant) });

function grant(line: ClaimLine, wanted: ClaimState, tenant: ClaimTenant): ClaimDecision {
  const claim = granted(wanted, tenant);
  return { kind: "granted", claim, line: replaced(line, claim) };
}

/** Those that hold what is wanted, and the living waiters for it: whoever comes later does not overtake them. */
const inTheWayOf = (line: ClaimLine, wanted: ClaimState, now: number): ClaimState[] =>
  [...holdersOf(line, now), ...inLineOrder(line).filter((waiter) => !isSilent(waiter, now))].filter((other) =>
    isConflict(other, wanted),
  );

/** People and systems may take a claim from agents, past the line; nobody takes it from a person. */
function takeOver(line: ClaimLine, wanted: ClaimState, principal: Principal, tenant: ClaimTenant): ClaimDecision {
  const { now, declaredName } = tenant;
  if (principal.participantKind === "agent") return refused(refuse("preempt_denied", { param: "preempt" }), line);
  if (!mayWithClaims(principal, "preempt")) return refused(denied(principal, declaredName, "preempt"), line);
  const holders = holdersOf(line, now).filter((holder) => isConflict(holder, wanted));
  if (holders.some(({ participant }) => !participant.startsWith("agent:")))
    return refused(refuse("preempt_denied", { param: "preempt", claims: presentHolders(line, tenant) }), line);
  const claim = granted(wanted, tenant);
  return {
    kind: "granted",
    claim,
    line: settleLine(replaced(line, claim, ...holders.map((holder) => closed(holder, "preempted", tenant))), tenant),
  };
}

/** `*.*` is about records: what concerns other people's claims is named by itself. */
const mayWithClaims = ({ scope }: Principal, can: "preempt" | "reorder"): boolean =>
  scope === undefined || scope.operations.has(`claim.${can}`);

const denied = ({ scope, organization }: Principal, model: string, can: "preempt" | "reorder"): Refusal => {
  const syncGroup = scope?.groups?.values().next().value ?? organizationGroup(organization);
  return refuse("capability_scope_denied", { requiredCapability: { can, model, syncGroup, scope: `claim.${can}` } });
};

const newClaim = (order: AcquireClaim, line: ClaimLine, { now }: ClaimTenant): ClaimState => ({
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
  ttlMs: order.ttlMs ?? limits.claimTtlMs,
  place: Math.max(0, ...line.map(({ place }) => place)) + 1,
  fence: null,
  grantedSyncId: null,
  createdAt: now,
  grantedAt: null,
  expiresAt: null,
  endedAt: null,
  seenAt: now,
  revokedAt: null,
});

/** What is asked for again replaces what was said before; what is left out stays. */
const asked = (claim: ClaimState, order: AcquireClaim): ClaimState => ({
  ...answeredFor(claim, order.principal),
  action: order.action ?? claim.action,
  description: order.description ?? claim.description,
  meta: order.meta ?? claim.meta,
  ttlMs: order.ttlMs ?? claim.ttlMs,
});

/** The token that was used last answers for a claim: with its revocation it ends, and what it reaches may be granted. */
const answeredFor = (claim: ClaimState, { tokenId, scope }: Principal): ClaimState => ({
  ...claim,
  tokenId,
  groups: scope?.groups ? [...scope.groups] : null,
});

function renew(line: ClaimLine, order: Extract<ClaimOrder, { kind: "renew" }>, tenant: ClaimTenant): ClaimDecision {
  const { principal } = order;
  const known = mine(line, principal).find(({ id }) => id === order.claimId);
  // Who held it once may be out of its sight by now.
  if (!known)
    return refused(
      refuse("claim_lost", { claims: isReadable(principal, tenant) ? presentHolders(line, tenant) : [] }),
      line,
    );
  const kept = answeredFor(known, principal);
  // One that waits has only shown that it lives.
  if (known.status === "queued") return { kind: "waiting", claim: kept, line: replaced(line, kept) };
  const claim = renewed(kept, order.ttlMs ?? known.ttlMs, tenant.now);
  return { kind: "renewed", claim, line: replaced(line, claim) };
}

function release(line: ClaimLine, order: Extract<ClaimOrder, { kind: "release" }>, tenant: ClaimTenant): ClaimDecision {
  const own = mine(line, order.principal).filter(
    ({ id, clientId }) =>
      (order.claimId === undefined || id === order.claimId) &&
      (order.clientId === undefined || clientId === order.clientId),
  );
  const gone = own.map((claim) => closed(claim, claim.status === "active" ? "released" : "canceled", tenant));
  return { kind: "released", count: gone.length, line: settleLine(replaced(line, ...gone), tenant) };
}

function reorder(line: ClaimLine, order: Extract<ClaimOrder, { kind: "reorder" }>, tenant: ClaimTenant): ClaimDecision {
  const { principal } = order;
  if (!isReadable(principal, tenant)) return refused(refuse("record_not_found", { param: "id" }), line);
  if (!mayWithClaims(principal, "reorder")) return refused(denied(principal, tenant.declaredName, "reorder"), line);
  const waiters = inLineOrder(alive(line));
  const waiting = new Set(waiters.map(({ id }) => id));
  const stranger = order.order.findIndex((id) => !waiting.has(id));
  if (stranger >= 0) return refused(refuse("claim_not_found", { param: `order[${stranger}]` }), line);
  const twice = order.order.findIndex((id, i) => order.order.indexOf(id) !== i);
  if (twice >= 0)
    return refused(refuse("invalid_value", { param: `order[${twice}]`, message: "A claim is named twice." }), line);
  const named = order.order.map((id) => waiters.find((waiter) => waiter.id === id) as ClaimState);
  const next = [...named, ...waiters.filter(({ id }) => !order.order.includes(id))];
  const moved = next
    .map((waiter, i) => ({ ...waiter, place: (waiters[i] as ClaimState).place }))
    .filter(({ place }, i) => place !== (next[i] as ClaimState).place);
  const reordered = settleLine(replaced(line, ...moved), tenant);
  if (hasCircle(waitsIn(reordered, tenant.now), tenant.waitsElsewhere))
    return refused(refuse("claim_deadlock", { claims: presentHolders(line, tenant) }), line);
  return { kind: "settled", line: reordered };
}

/** Whether somebody of a line would wait for itself, once around over other records. */
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
