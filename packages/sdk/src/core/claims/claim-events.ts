import type { ClaimFrame } from "../../protocol/stream/frames-down.ts";
import { dueNow } from "../connection/retry.ts";
import { recordKey } from "../log/tables.ts";
import { type Reply, verdictOf } from "../queue/outcome.ts";
import { readFailure } from "../queue/read-failure.ts";
import {
  joinQueue,
  leave,
  loseClaim,
  notify,
  notifyGranted,
  onAnsweredWhileLeaving,
  onClaim,
  onEnded,
  onGranted,
  onMoved,
  onRefused,
  readClaim,
  retryLater,
} from "./claim-moves.ts";
import { request } from "./claim-request.ts";
import { type ClaimDraft, type Hold, type Target, type Terms, targetKey, type User } from "./claim-state.ts";
import { remainingMs } from "./lease-time.ts";

// The events of claims, and what each means for the holds concerned. The stages of a hold are in claim-moves.ts.

export function onClaimed(draft: ClaimDraft, target: Target, terms: Terms, lease: string, queue: boolean): void {
  const key = targetKey(target);
  const user: User = { lease, terms, queue, has: false };
  const hold = draft.holds.get(key);
  if (!hold) {
    const stage = { phase: "acquiring", isSent: false } as const;
    draft.holds.set(key, { target, users: [user], stage, flight: undefined, wait: undefined, lastPushed: undefined });
    return;
  }
  const { stage } = hold;
  const users = [...hold.users, user];
  // A preempting request does not wait for the response to an earlier request.
  if (terms.preempt && (stage.phase === "acquiring" || stage.phase === "waiting")) {
    if (hold.flight) draft.effects.push({ do: "drop", key, n: hold.flight.n });
    const acquiring = { phase: "acquiring", isSent: true } as const;
    draft.holds.set(key, {
      ...hold,
      users,
      stage: acquiring,
      flight: undefined,
      wait: undefined,
      lastPushed: undefined,
    });
    return;
  }
  draft.holds.set(key, { ...hold, users });
  if (stage.phase === "held" && remainingMs(stage, draft.now) > 0) notifyGranted(draft, key);
  if (stage.phase === "waiting") joinQueue(draft, key, user, stage.position);
}

/** Ends one user's share in a hold. The claim is released with its last user. */
export function onLeft(draft: ClaimDraft, lease: string): void {
  for (const [key, hold] of draft.holds) {
    if (!hold.users.some((user) => user.lease === lease)) continue;
    const users = hold.users.filter((user) => user.lease !== lease);
    if (users.length > 0 || hold.stage.phase === "leaving") {
      draft.holds.set(key, { ...hold, users });
      return notify(draft, [{ lease }], { kind: "released" });
    }
    if (hold.stage.phase === "acquiring" && !hold.stage.isSent) {
      draft.holds.delete(key);
      return notify(draft, [{ lease }], { kind: "released" });
    }
    return leave(draft, key, hold, [lease]);
  }
  notify(draft, [{ lease }], { kind: "released" });
}

/** A `claim` frame: one claim of this participant has changed. */
export function onClaimFrame(draft: ClaimDraft, { claim, holders }: Pick<ClaimFrame, "claim" | "holders">): void {
  const target = { model: claim.target.resource, id: claim.target.id, field: claim.field };
  const key = targetKey(target);
  const hold = draft.holds.get(key);
  if (!hold) return;
  const { stage } = hold;
  if (stage.phase === "acquiring") return void draft.holds.set(key, { ...hold, lastPushed: claim });
  if (stage.phase === "leaving" || stage.claimId !== claim.id) return;
  if (claim.status === "queued") {
    if (stage.phase === "waiting") onMoved(draft, key, hold, stage, claim.position);
  } else if (claim.status === "active") {
    if (stage.phase === "waiting") onGranted(draft, key, hold, claim, stage.queuedAt);
  } else onEnded(draft, key, claim.status, holders);
}

/** The response to a request of this client. A response to an abandoned request is ignored. */
export function onAnswered(draft: ClaimDraft, key: string, n: number, reply: Reply): void {
  const before = draft.holds.get(key);
  if (!before?.flight || before.flight.n !== n) return;
  const { flight } = before;
  const hold: Hold = { ...before, flight: undefined };
  draft.holds.set(key, hold);
  const verdict = verdictOf(reply);
  if (hold.stage.phase === "leaving") return onAnsweredWhileLeaving(draft, key, hold, hold.stage, flight, verdict);
  switch (verdict.then) {
    case "read": {
      const claim = readClaim(verdict.body);
      if (!claim) return retryLater(draft, key, 0);
      draft.holds.set(key, { ...hold, wait: undefined });
      return onClaim(draft, key, claim, flight);
    }
    case "again":
      return retryLater(draft, key, verdict.atLeastMs);
    case "sign-in": {
      draft.effects.push({ do: "tokenRefused", reason: verdict.reason });
      const revoked = reply.kind === "answer" && readFailure(reply.body, reply.status)?.code === "token_revoked";
      if (revoked && hold.stage.phase === "held") return loseClaim(draft, key, "revoked");
      return retryLater(draft, key, 0);
    }
    case "refused":
      return onRefused(draft, key, hold, verdict.failure, flight);
  }
}

/** The machine may have slept, or the connection was lost: check each claim with the server before relying on it. */
export function recheckClaims(draft: ClaimDraft): void {
  for (const [key, hold] of draft.holds) {
    const { stage } = hold;
    const wait = dueNow(hold.wait, draft.now.at);
    if (stage.phase === "held") draft.holds.set(key, { ...hold, wait, stage: { ...stage, check: true } });
    else if (stage.phase === "waiting")
      draft.holds.set(key, { ...hold, wait, stage: { ...stage, checkAt: draft.now.at } });
    else draft.holds.set(key, { ...hold, wait });
  }
}

/** The token was revoked, and with it every claim that it made. No later response could report that. */
export function onRevoked(draft: ClaimDraft): void {
  for (const [key, hold] of draft.holds) {
    if (hold.stage.phase !== "held") continue;
    if (hold.flight) draft.effects.push({ do: "drop", key, n: hold.flight.n });
    loseClaim(draft, key, "revoked");
  }
}

/** The page or the client is closing. Release its claims, so that other participants need not wait for their expiry. */
export function releaseAll(draft: ClaimDraft, reason: "hidden" | "closed"): void {
  for (const [key, hold] of draft.holds) {
    const claimId = hold.stage.phase === "acquiring" ? undefined : hold.stage.claimId;
    if (hold.flight) draft.effects.push({ do: "drop", key, n: hold.flight.n });
    // For a claim whose id is unknown, only a closing client may release all its claims on the record: a later request
    // could create a new claim.
    const unnamed = reason === "closed" && hold.stage.phase === "acquiring" && hold.stage.isSent;
    if (claimId !== undefined || (unnamed && !hasSibling(draft, key, hold)))
      request(draft, key, hold, "release", claimId, reason === "hidden");
    loseClaim(draft, key, reason);
  }
}

/** Whether this client has another claim on the record, which releasing all claims on the record would end too. */
const hasSibling = ({ holds }: ClaimDraft, key: string, { target }: Hold): boolean =>
  [...holds].some(([other, hold]) => other !== key && recordKey(hold.target) === recordKey(target));
