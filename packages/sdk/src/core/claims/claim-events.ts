import type { ClaimFrame } from "../../protocol/stream/frames-down.ts";
import { dueNow } from "../connection/retry.ts";
import { recordKey } from "../log/tables.ts";
import { readFailure } from "../queue/failure.ts";
import { type Reply, verdictOf } from "../queue/outcome.ts";
import {
  handOver,
  joinLine,
  leave,
  leftOn,
  lost,
  onClaim,
  onEnded,
  onMoved,
  onRefused,
  readClaim,
  retryLater,
  tell,
} from "./claim-moves.ts";
import { request } from "./claim-request.ts";
import { type ClaimDraft, type Hold, type Target, type Terms, targetKey, type User } from "./claim-state.ts";
import { remainingMs } from "./lease-time.ts";

// What can happen to claims, and what each of it means to the holds that it is about. Their stages: claim-moves.ts.

export function onClaimed(draft: ClaimDraft, target: Target, terms: Terms, lease: string, queue: boolean): void {
  const key = targetKey(target);
  const user: User = { lease, terms, queue, has: false };
  const hold = draft.holds.get(key);
  if (!hold) {
    const stage = { phase: "asking", asked: false } as const;
    draft.holds.set(key, { target, users: [user], stage, flight: undefined, wait: undefined, told: undefined });
    return;
  }
  const { stage } = hold;
  const users = [...hold.users, user];
  // Who wants it past the line does not wait for what was asked before.
  if (terms.preempt && (stage.phase === "asking" || stage.phase === "waiting")) {
    if (hold.flight) draft.effects.push({ do: "drop", key, n: hold.flight.n });
    const asking = { phase: "asking", asked: true } as const;
    draft.holds.set(key, { ...hold, users, stage: asking, flight: undefined, wait: undefined, told: undefined });
    return;
  }
  draft.holds.set(key, { ...hold, users });
  if (stage.phase === "held" && remainingMs(stage, draft.now) > 0) handOver(draft, key);
  if (stage.phase === "waiting") joinLine(draft, key, user, stage.position);
}

/** Gives up what one user has: the claim goes with its last one. */
export function onLeft(draft: ClaimDraft, lease: string): void {
  for (const [key, hold] of draft.holds) {
    if (!hold.users.some((user) => user.lease === lease)) continue;
    const users = hold.users.filter((user) => user.lease !== lease);
    if (users.length > 0 || hold.stage.phase === "leaving") {
      draft.holds.set(key, { ...hold, users });
      return tell(draft, [{ lease }], { kind: "released" });
    }
    if (hold.stage.phase === "asking" && !hold.stage.asked) {
      draft.holds.delete(key);
      return tell(draft, [{ lease }], { kind: "released" });
    }
    return leave(draft, key, hold, [lease]);
  }
  tell(draft, [{ lease }], { kind: "released" });
}

/** A `claim` frame: one claim of this participant changed. */
export function onClaimFrame(draft: ClaimDraft, { claim, holders }: Pick<ClaimFrame, "claim" | "holders">): void {
  const target = { model: claim.target.resource, id: claim.target.id, field: claim.field };
  const key = targetKey(target);
  const hold = draft.holds.get(key);
  if (!hold) return;
  const { stage } = hold;
  if (stage.phase === "asking") return void draft.holds.set(key, { ...hold, told: claim });
  if (stage.phase === "leaving" || stage.claimId !== claim.id) return;
  if (claim.status === "queued") {
    if (stage.phase === "waiting") onMoved(draft, key, hold, stage, claim.position);
  } else if (claim.status === "active") {
    if (stage.phase === "waiting")
      draft.holds.set(key, { ...hold, wait: undefined, stage: { ...stage, granted: true } });
  } else onEnded(draft, key, claim.status, holders);
}

/** The answer to a request of ours. One to a request that was given up comes too late, and says nothing. */
export function onAnswered(draft: ClaimDraft, key: string, n: number, reply: Reply): void {
  const before = draft.holds.get(key);
  if (!before?.flight || before.flight.n !== n) return;
  const { flight } = before;
  const hold: Hold = { ...before, flight: undefined };
  draft.holds.set(key, hold);
  const verdict = verdictOf(reply);
  if (hold.stage.phase === "leaving") return leftOn(draft, key, hold, hold.stage, flight, verdict);
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
      if (revoked && hold.stage.phase === "held") return lost(draft, key, "revoked");
      return retryLater(draft, key, 0);
    }
    case "refused":
      return onRefused(draft, key, hold, verdict.failure, flight);
  }
}

/** The machine may have slept, or the line was away: what is believed is asked again before it is relied on. */
export function onDoubted(draft: ClaimDraft): void {
  for (const [key, hold] of draft.holds) {
    const { stage } = hold;
    const wait = dueNow(hold.wait, draft.now.at);
    if (stage.phase === "held") draft.holds.set(key, { ...hold, wait, stage: { ...stage, check: true } });
    else if (stage.phase === "waiting")
      draft.holds.set(key, { ...hold, wait, stage: { ...stage, checkAt: draft.now.at } });
    else draft.holds.set(key, { ...hold, wait });
  }
}

/** The token was revoked, and with it every claim that was made with it; no answer will come that could say so. */
export function onRevoked(draft: ClaimDraft): void {
  for (const [key, hold] of draft.holds) {
    if (hold.stage.phase !== "held") continue;
    if (hold.flight) draft.effects.push({ do: "drop", key, n: hold.flight.n });
    lost(draft, key, "revoked");
  }
}

/** The page or the client goes: whoever waits for what it holds should not have to wait for its end. */
export function onLetGo(draft: ClaimDraft, reason: "hidden" | "closed"): void {
  for (const [key, hold] of draft.holds) {
    const claimId = hold.stage.phase === "asking" ? undefined : hold.stage.claimId;
    if (hold.flight) draft.effects.push({ do: "drop", key, n: hold.flight.n });
    // Of one without a name only a client that never asks again may say "all I have on the record".
    const unnamed = reason === "closed" && hold.stage.phase === "asking" && hold.stage.asked;
    if (claimId !== undefined || (unnamed && !hasSibling(draft, key, hold)))
      request(draft, key, hold, "release", claimId, reason === "hidden");
    lost(draft, key, reason);
  }
}

/** Whether this client has another claim on that record: giving up "all on the record" would take it along. */
const hasSibling = ({ holds }: ClaimDraft, key: string, { target }: Hold): boolean =>
  [...holds].some(([other, hold]) => other !== key && recordKey(hold.target) === recordKey(target));
