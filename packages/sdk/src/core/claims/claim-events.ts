import type { ClaimFrame } from "../../protocol/stream/frames-down.ts";
import { hurried } from "../connection/retry.ts";
import { recordKey } from "../log/tables.ts";
import { readFailure } from "../queue/failure.ts";
import { type Reply, verdictOf } from "../queue/outcome.ts";
import {
  ended,
  handOver,
  hear,
  joinLine,
  later,
  leave,
  leftOn,
  lost,
  moved,
  readClaim,
  refused,
  tell,
} from "./claim-moves.ts";
import { request } from "./claim-request.ts";
import { type ClaimTurn, type Hold, type Target, type Terms, targetKey, type User } from "./claim-state.ts";
import { remainingMs } from "./lease-time.ts";

// What can happen to claims, and what each of it means to the holds that it is about. Their stages: claim-moves.ts.

export function claimed(turn: ClaimTurn, target: Target, terms: Terms, lease: string, queue: boolean): void {
  const key = targetKey(target);
  const user: User = { lease, terms, queue, has: false };
  const hold = turn.holds.get(key);
  if (!hold) {
    const stage = { phase: "asking", asked: false } as const;
    turn.holds.set(key, { target, users: [user], stage, flight: undefined, wait: undefined, told: undefined });
    return;
  }
  const { stage } = hold;
  const users = [...hold.users, user];
  // Who wants it past the line does not wait for what was asked before.
  if (terms.preempt && (stage.phase === "asking" || stage.phase === "waiting")) {
    if (hold.flight) turn.effects.push({ do: "drop", key, n: hold.flight.n });
    const asking = { phase: "asking", asked: true } as const;
    turn.holds.set(key, { ...hold, users, stage: asking, flight: undefined, wait: undefined, told: undefined });
    return;
  }
  turn.holds.set(key, { ...hold, users });
  if (stage.phase === "held" && remainingMs(stage, turn.now) > 0) handOver(turn, key);
  if (stage.phase === "waiting") joinLine(turn, key, user, stage.position);
}

/** Gives up what one user has: the claim goes with its last one. */
export function left(turn: ClaimTurn, lease: string): void {
  for (const [key, hold] of turn.holds) {
    if (!hold.users.some((user) => user.lease === lease)) continue;
    const users = hold.users.filter((user) => user.lease !== lease);
    if (users.length > 0 || hold.stage.phase === "leaving") {
      turn.holds.set(key, { ...hold, users });
      return tell(turn, [{ lease }], { kind: "released" });
    }
    if (hold.stage.phase === "asking" && !hold.stage.asked) {
      turn.holds.delete(key);
      return tell(turn, [{ lease }], { kind: "released" });
    }
    return leave(turn, key, hold, [lease]);
  }
  tell(turn, [{ lease }], { kind: "released" });
}

/** A `claim` frame: one claim of this participant changed. */
export function told(turn: ClaimTurn, { claim, holders }: Pick<ClaimFrame, "claim" | "holders">): void {
  const target = { model: claim.target.resource, id: claim.target.id, field: claim.field };
  const key = targetKey(target);
  const hold = turn.holds.get(key);
  if (!hold) return;
  const { stage } = hold;
  if (stage.phase === "asking") return void turn.holds.set(key, { ...hold, told: claim });
  if (stage.phase === "leaving" || stage.claimId !== claim.id) return;
  if (claim.status === "queued") {
    if (stage.phase === "waiting") moved(turn, key, hold, stage, claim.position);
  } else if (claim.status === "active") {
    if (stage.phase === "waiting")
      turn.holds.set(key, { ...hold, wait: undefined, stage: { ...stage, granted: true } });
  } else ended(turn, key, claim.status, holders);
}

/** The answer to a request of ours. One to a request that was given up comes too late, and says nothing. */
export function answered(turn: ClaimTurn, key: string, n: number, reply: Reply): void {
  const before = turn.holds.get(key);
  if (!before?.flight || before.flight.n !== n) return;
  const { flight } = before;
  const hold: Hold = { ...before, flight: undefined };
  turn.holds.set(key, hold);
  const verdict = verdictOf(reply);
  if (hold.stage.phase === "leaving") return leftOn(turn, key, hold, hold.stage, flight, verdict);
  switch (verdict.then) {
    case "read": {
      const claim = readClaim(verdict.body);
      if (!claim) return later(turn, key, 0);
      turn.holds.set(key, { ...hold, wait: undefined });
      return hear(turn, key, claim, flight);
    }
    case "again":
      return later(turn, key, verdict.atLeastMs);
    case "sign-in": {
      turn.effects.push({ do: "tokenRefused", reason: verdict.reason });
      const revoked = reply.kind === "answer" && readFailure(reply.body, reply.status)?.code === "token_revoked";
      if (revoked && hold.stage.phase === "held") return lost(turn, key, "revoked");
      return later(turn, key, 0);
    }
    case "refused":
      return refused(turn, key, hold, verdict.failure, flight);
  }
}

/** The machine may have slept, or the line was away: what is believed is asked again before it is relied on. */
export function doubted(turn: ClaimTurn): void {
  for (const [key, hold] of turn.holds) {
    const { stage } = hold;
    const wait = hurried(hold.wait, turn.now.at);
    if (stage.phase === "held") turn.holds.set(key, { ...hold, wait, stage: { ...stage, check: true } });
    else if (stage.phase === "waiting")
      turn.holds.set(key, { ...hold, wait, stage: { ...stage, checkAt: turn.now.at } });
    else turn.holds.set(key, { ...hold, wait });
  }
}

/** The token was revoked, and with it every claim that was made with it; no answer will come that could say so. */
export function revoked(turn: ClaimTurn): void {
  for (const [key, hold] of turn.holds) {
    if (hold.stage.phase !== "held") continue;
    if (hold.flight) turn.effects.push({ do: "drop", key, n: hold.flight.n });
    lost(turn, key, "revoked");
  }
}

/** The page or the client goes: whoever waits for what it holds should not have to wait for its end. */
export function letGo(turn: ClaimTurn, reason: "hidden" | "closed"): void {
  for (const [key, hold] of turn.holds) {
    const claimId = hold.stage.phase === "asking" ? undefined : hold.stage.claimId;
    if (hold.flight) turn.effects.push({ do: "drop", key, n: hold.flight.n });
    // Of one without a name only a client that never asks again may say "all I have on the record".
    const unnamed = reason === "closed" && hold.stage.phase === "asking" && hold.stage.asked;
    if (claimId !== undefined || (unnamed && !hasSibling(turn, key, hold)))
      request(turn, key, hold, "release", claimId, reason === "hidden");
    lost(turn, key, reason);
  }
}

/** Whether this client has another claim on that record: giving up "all on the record" would take it along. */
const hasSibling = ({ holds }: ClaimTurn, key: string, { target }: Hold): boolean =>
  [...holds].some(([other, hold]) => other !== key && recordKey(hold.target) === recordKey(target));
