import type { Claim, ClaimStatus } from "../../protocol/claims/claim.ts";
import { clientLimits as limits } from "../../protocol/client-limits.ts";
import { type Pace, waitAfter } from "../connection/retry.ts";
import type { Failure, LossReason } from "../queue/failure.ts";
import { knownFailure } from "../queue/known-failure.ts";
import type { verdictOf } from "../queue/outcome.ts";
import { isOutstanding, unreadOf } from "./claim-grant.ts";
import type { ClaimDraft, ClaimNews, Flight, Hold, HoldStage, Instant, User } from "./claim-state.ts";
import { remainingMs } from "./lease-time.ts";

/*
 * The stages of a hold:
 *
 *             ┌────────────── refused: failed
 *   asking ───┼─ granted ──────────────► held ── deadline passed · ended · refused ──► lost
 *     ▲       │                           ▲ └──── its last user leaves ──► leaving ──► removed
 *     │       └─ queued ──► waiting ──────┘
 *     └── place lost ─────────┘   granted: counts from the last request that found it queued; if that
 *                                 leaves too little of the lease, it is requested once more
 */

const PACE: Pace = { firstMs: 500, longestMs: 10_000 };
/** How often a waiting client polls although the stream reports changes. The polls show the server that it is alive. */
export const WAITER_CHECK_MS = 20_000;

/** Takes the state of a claim from a response. */
export function onClaim(draft: ClaimDraft, key: string, claim: Claim, flight: Flight): void {
  const hold = draft.holds.get(key);
  if (!hold) return;
  const { stage } = hold;
  if (claim.status === "active") {
    if (flight.what === "poll") return onGranted(draft, key, hold, claim, flight.sent);
    const held = heldFrom(draft, stage, claim, flight.sent);
    if (stage.phase === "held" && stage.claimId !== claim.id) return loseClaim(draft, key, "refused");
    // A response that took as long as the lease grants nothing to rely on. Request the claim once more.
    if (stage.phase !== "held" && remainingMs(held, draft.now) === 0) {
      requestAgain(draft, key, hold, claim.id, flight.sent);
      return retryLater(draft, key, 0);
    }
    draft.holds.set(key, { ...hold, stage: held, lastPushed: undefined });
    return notifyGranted(draft, key);
  }
  if (claim.status !== "queued") return onEnded(draft, key, claim.status);
  if (stage.phase === "held") return loseClaim(draft, key, "refused");
  // The stream may have delivered a newer state than the response.
  const last = hold.lastPushed?.id === claim.id ? hold.lastPushed : undefined;
  if (last?.status === "active") return onGranted(draft, key, hold, last, flight.sent);
  if (last && last.status !== "queued") return onEnded(draft, key, last.status);
  const position = last ? last.position : claim.position;
  if (stage.phase === "waiting" && stage.claimId === claim.id) {
    // A proxy that answers long polls at once must not cause an endless loop of requests.
    const atOnce = flight.what === "poll" && draft.now.at - flight.sent.at < 1_000 && position === stage.position;
    onMoved(draft, key, hold, { ...stage, queuedAt: flight.sent }, position);
    return atOnce ? retryLater(draft, key, 0) : undefined;
  }
  const checkAt = draft.now.at + WAITER_CHECK_MS;
  const queuedAt = flight.sent;
  const waiting = { phase: "waiting", claimId: claim.id, position, queuedAt, granted: false, checkAt } as const;
  draft.holds.set(key, { ...hold, stage: waiting, lastPushed: undefined });
  for (const user of hold.users) joinQueue(draft, key, user, position);
  // The only user that was willing to wait has left meanwhile.
  const left = draft.holds.get(key);
  if (left?.users.length === 0) leave(draft, key, left, []);
}

/** Releases a claim that has no users left. Users in `left` are notified when it is released. */
export function leave(draft: ClaimDraft, key: string, hold: Hold, left: readonly string[]): void {
  const { stage } = hold;
  const claimId = stage.phase === "acquiring" ? undefined : stage.claimId;
  // After this time the claim has expired by itself. If it was not granted yet, its expiry is unknown: use the maximum.
  const until = draft.now.at + (stage.phase === "held" ? stage.ttlMs : limits.claimTtlMaxMs);
  draft.holds.set(key, { ...hold, users: [], stage: { phase: "leaving", claimId, until, left }, wait: undefined });
}

/**
 * A claim that was queued is granted, as a stream frame or a long poll says. How long that message took is unknown, so
 * the lease counts from a moment before the grant: when the last request was sent that found the claim queued. If that
 * leaves less than a third, the claim is requested once more first.
 */
export function onGranted(draft: ClaimDraft, key: string, hold: Hold, claim: Claim, queuedAt: Instant): void {
  const held = heldFrom(draft, hold.stage, claim, queuedAt);
  if (remainingMs(held, draft.now) * 3 < held.ttlMs || held.ttlMs === 0)
    return requestAgain(draft, key, hold, claim.id, queuedAt);
  // A request in flight could report an earlier state.
  if (hold.flight) draft.effects.push({ do: "drop", key, n: hold.flight.n });
  draft.holds.set(key, { ...hold, stage: held, flight: undefined, wait: undefined, lastPushed: undefined });
  notifyGranted(draft, key);
}

function heldFrom(
  draft: ClaimDraft,
  stage: HoldStage,
  claim: Claim,
  sent: Instant,
): Extract<HoldStage, { phase: "held" }> {
  const { id: claimId, fence = 0, expiresInMs: ttlMs = 0 } = claim;
  const unread = stage.phase === "held" ? stage.unread : unreadOf(claim, draft);
  return { phase: "held", claimId, fence, sent, ttlMs, unread, check: false };
}

/** Only the response to a new, short request shows how much of the lease is left. */
function requestAgain(draft: ClaimDraft, key: string, hold: Hold, claimId: string, queuedAt: Instant): void {
  const position = hold.stage.phase === "waiting" ? hold.stage.position : undefined;
  const stage = { phase: "waiting", claimId, position, queuedAt, granted: true, checkAt: draft.now.at } as const;
  draft.holds.set(key, { ...hold, stage, lastPushed: undefined });
}

export function onMoved(
  draft: ClaimDraft,
  key: string,
  hold: Hold,
  stage: Extract<HoldStage, { phase: "waiting" }>,
  position: number | undefined,
): void {
  draft.holds.set(key, { ...hold, stage: { ...stage, position } });
  if (position !== stage.position) notify(draft, hold.users, { kind: "position", position });
}

export function joinQueue(draft: ClaimDraft, key: string, user: User, position: number | undefined): void {
  if (user.queue) return notify(draft, [user], { kind: "position", position });
  const hold = draft.holds.get(key);
  if (hold) draft.holds.set(key, { ...hold, users: hold.users.filter((each) => each !== user) });
  notify(draft, [user], { kind: "failed", failure: knownFailure("claim_conflict", "Someone else holds the claim.") });
}

/** Notifies new users of the claim, once the rows have reached the grant. */
export function notifyGranted(draft: ClaimDraft, key: string): void {
  const hold = draft.holds.get(key);
  if (hold?.stage.phase !== "held") return;
  const { claimId, fence, unread } = hold.stage;
  if (unread && isOutstanding(unread, draft)) return;
  const news = hold.users.filter((user) => !user.has);
  const users = hold.users.map((user) => ({ ...user, has: true }));
  draft.holds.set(key, { ...hold, users, stage: { ...hold.stage, unread: undefined } });
  notify(draft, news, { kind: "granted", claimId, fence });
}

/**
 * The claim ended without action of this client: a lease is lost, and a lost place in the claim queue is requested
 * again.
 */
export function onEnded(
  draft: ClaimDraft,
  key: string,
  status: Exclude<ClaimStatus, "active" | "queued">,
  holders?: readonly Claim[],
): void {
  const hold = draft.holds.get(key);
  if (!hold) return;
  if (hold.stage.phase === "held") return loseClaim(draft, key, status, holders);
  // The request in flight concerns a claim that has ended.
  if (hold.flight) draft.effects.push({ do: "drop", key, n: hold.flight.n });
  draft.holds.set(key, {
    ...hold,
    stage: { phase: "acquiring", isSent: true },
    flight: undefined,
    lastPushed: undefined,
  });
  retryLater(draft, key, 0);
}

const GONE: ReadonlySet<string> = new Set(["claim_lost", "claim_not_found", "not_claim_holder"]);

export function onRefused(draft: ClaimDraft, key: string, hold: Hold, failure: Failure, flight: Flight): void {
  if (hold.stage.phase === "held") return loseClaim(draft, key, "refused", failure.claims);
  if (hold.stage.phase === "waiting" && GONE.has(failure.code)) return onEnded(draft, key, "expired");
  // A user that is willing to wait joined after the request was sent. Request the claim once more.
  const stay = failure.code === "claim_conflict" && !flight.queue ? hold.users.filter((user) => user.queue) : [];
  if (stay.length > 0) draft.holds.set(key, { ...hold, users: stay });
  else draft.holds.delete(key);
  const others = hold.users.filter((user) => !stay.includes(user));
  notify(draft, others, { kind: "failed", failure });
}

/** Handles a response for a user that has left. */
export function onAnsweredWhileLeaving(
  draft: ClaimDraft,
  key: string,
  hold: Hold,
  stage: Extract<HoldStage, { phase: "leaving" }>,
  flight: Flight,
  verdict: ReturnType<typeof verdictOf>,
): void {
  if (verdict.then === "again" || verdict.then === "sign-in") {
    if (verdict.then === "sign-in") draft.effects.push({ do: "tokenRefused", reason: verdict.reason });
    return retryLater(draft, key, verdict.then === "again" ? verdict.atLeastMs : 0);
  }
  if (flight.what === "release" || verdict.then === "refused") return onReleased(draft, key);
  const claim = readClaim(verdict.body);
  if (claim) draft.holds.set(key, { ...hold, stage: { ...stage, claimId: claim.id } });
}

/** The server holds nothing of it any more. Users that joined meanwhile request a new claim. */
export function onReleased(draft: ClaimDraft, key: string): void {
  const hold = draft.holds.get(key);
  if (hold?.stage.phase !== "leaving") return;
  const { users, stage } = hold;
  draft.holds.delete(key);
  for (const lease of stage.left) notify(draft, [{ lease }], { kind: "released" });
  const acquiring = { phase: "acquiring", isSent: false } as const;
  if (users.length > 0)
    draft.holds.set(key, { ...hold, stage: acquiring, flight: undefined, wait: undefined, lastPushed: undefined });
}

export function loseClaim(draft: ClaimDraft, key: string, reason: LossReason, holders?: readonly Claim[]): void {
  const hold = draft.holds.get(key);
  draft.holds.delete(key);
  if (!hold) return;
  const goes = reason === "hidden" || reason === "closed";
  const owners = hold.users.filter((user) => goes || user.has);
  const others = hold.users.filter((user) => !goes && !user.has);
  notify(draft, owners, { kind: "lost", reason, ...(holders?.length && { holders }) });
  // Users that joined last and were not notified of the grant still want the claim.
  if (others.length > 0)
    draft.holds.set(key, { ...hold, users: others, stage: { phase: "acquiring", isSent: true }, flight: undefined });
  if (hold.stage.phase === "leaving")
    for (const lease of hold.stage.left) notify(draft, [{ lease }], { kind: "released" });
}

export function retryLater(draft: ClaimDraft, key: string, atLeastMs: number): void {
  const hold = draft.holds.get(key);
  if (!hold) return;
  const wait = waitAfter(hold.wait, PACE, draft.now.at, draft.roll, atLeastMs);
  draft.holds.set(key, { ...hold, wait, stage: unanswered(hold.stage, draft.now.at) });
}

/** Returns to the stage before the request, so that an unanswered request is sent again. */
const unanswered = (stage: HoldStage, at: number): HoldStage =>
  stage.phase === "waiting" ? { ...stage, checkAt: at } : stage.phase === "held" ? { ...stage, check: true } : stage;

export function notify(draft: ClaimDraft, users: readonly { readonly lease: string }[], news: ClaimNews): void {
  for (const { lease } of users) draft.effects.push({ do: "notifyLease", lease, news });
}

export function readClaim(body: unknown): Claim | undefined {
  const claim = body as Partial<Claim> | null | undefined;
  return typeof claim?.id === "string" && typeof claim.status === "string" ? (claim as Claim) : undefined;
}
