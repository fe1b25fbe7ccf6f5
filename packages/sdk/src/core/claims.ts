import type { Claim, ClaimStatus } from "../protocol/claim.ts";
import { clientLimits as limits } from "../protocol/client-limits.ts";
import { request, waits, wish } from "./claim-request.ts";
import { type Failure, knownFailure, type LossReason, readFailure } from "./failure.ts";
import {
  type ClaimNews,
  type ClaimTurn,
  type Flight,
  type Hold,
  type HoldStage,
  type Holds,
  type Instant,
  type LineState,
  type Target,
  type Terms,
  targetKey,
  type User,
} from "./hold.ts";
import { deadlineOf, isOver, remainingMs, renewAt } from "./lease-time.ts";
import { type Reply, verdictOf } from "./outcome.ts";
import { hurried, isDue, type Pace, waitAfter } from "./retry.ts";
import { recordKey } from "./tables.ts";

/*
 *            ┌────────────── refused: failed
 *  asking ───┼─ granted ──────────────► held ── deadline passed · ended · refused ──► lost
 *    ▲       │                           ▲ └──── its last user leaves ──► leaving ──► gone
 *    │       └─ queued ──► waiting ──────┘
 *    └── place lost ─────────┘   granted: asked once more, since only a short request's answer says from when
 */

const PACE: Pace = { firstMs: 500, longestMs: 10_000 };
/** While the stream tells what changes: how often a waiter asks all the same, which shows that it lives. */
const WAITER_CHECK_MS = 20_000;
export function claimed(turn: ClaimTurn, target: Target, terms: Terms, lease: string, queue: boolean): void {
  const key = targetKey(target);
  const user: User = { lease, queue, has: false };
  const hold = turn.holds.get(key);
  if (!hold) {
    const stage = { phase: "asking", asked: false } as const;
    turn.holds.set(key, { target, terms, users: [user], stage, flight: undefined, wait: undefined, told: undefined });
    return;
  }
  turn.holds.set(key, { ...hold, users: [...hold.users, user] });
  const { stage } = hold;
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
    const claimId = hold.stage.phase === "asking" ? undefined : hold.stage.claimId;
    // Beyond that it has ended by itself.
    const until = turn.now.at + limits.claimTtlMs;
    const stage = { phase: "leaving", claimId, until, left: [lease] } as const;
    turn.holds.set(key, { ...hold, users, stage, wait: undefined });
    return;
  }
  tell(turn, [{ lease }], { kind: "released" });
}

/** A `claim` frame: one claim of this participant changed. */
export function told(turn: ClaimTurn, claim: Claim): void {
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
  } else ended(turn, key, claim.status);
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

/** Runs last in every step: ends what is over, and asks what may be asked now. */
export function goOn(turn: ClaimTurn): void {
  for (const [key, hold] of turn.holds) {
    const { stage } = hold;
    if (stage.phase === "held" && isOver(stage, turn)) {
      if (hold.flight) turn.effects.push({ do: "drop", key, n: hold.flight.n });
      lost(turn, key, "deadline");
    } else if (stage.phase === "leaving" && turn.now.at >= stage.until) gone(turn, key);
  }
  for (const [key, hold] of turn.holds) askOn(turn, key, hold);
}

/** When `goOn` should run again although nothing happens. */
export function nextDueAt(holds: Holds, line: LineState, now: Instant): number | undefined {
  const times: (number | undefined)[] = [];
  for (const { stage, flight, wait } of holds.values()) {
    if (stage.phase === "held") times.push(deadlineOf(stage));
    if (stage.phase === "leaving") times.push(stage.until);
    if (!line.mayTalk) continue;
    if (flight && flight.what !== "poll") continue;
    if (wait) times.push(wait.at);
    else if (stage.phase === "held") times.push(renewAt(stage));
    else if (stage.phase === "waiting" && line.live) times.push(stage.checkAt);
  }
  const due = times.filter((at) => at !== undefined && at > now.at) as number[];
  return due.length > 0 ? Math.min(...due) : undefined;
}

function askOn(turn: ClaimTurn, key: string, hold: Hold): void {
  const { line, now } = turn;
  const what = wish(hold, line, now);
  if (!line.mayTalk) {
    // Without a line no answer will come either.
    if (hold.flight) {
      turn.effects.push({ do: "drop", key, n: hold.flight.n });
      turn.holds.set(key, { ...hold, flight: undefined });
    }
    return;
  }
  if (!what || !isDue(hold.wait, now.at)) return;
  if (hold.flight) {
    // Only a request that waits for news may be overtaken: all others change something.
    if (hold.flight.what !== "poll" || what === "poll") return;
    turn.effects.push({ do: "drop", key, n: hold.flight.n });
  }
  const { stage } = hold;
  const claimId = stage.phase === "asking" ? undefined : stage.claimId;
  const n = request(turn, key, hold, what, claimId);
  const next: HoldStage =
    stage.phase === "asking"
      ? { ...stage, asked: true }
      : stage.phase === "held"
        ? { ...stage, check: false }
        : stage.phase === "waiting"
          ? { ...stage, granted: false, checkAt: now.at + WAITER_CHECK_MS }
          : stage;
  turn.holds.set(key, { ...hold, stage: next, flight: { n, what, queue: waits(hold), sent: now } });
}

/** What a claim is now, from an answer. Only a request that is answered at once says from when a lease counts. */
function hear(turn: ClaimTurn, key: string, claim: Claim, flight: Flight): void {
  const hold = turn.holds.get(key);
  if (!hold) return;
  const { stage } = hold;
  if (claim.status === "active") {
    if (flight.what === "poll") return grantedUnseen(turn, key, hold, claim.id);
    const { fence = 0, expiresInMs: ttlMs = 0 } = claim;
    const held = { phase: "held", claimId: claim.id, fence, sent: flight.sent, ttlMs, check: false } as const;
    if (stage.phase === "held" && stage.claimId !== claim.id) return lost(turn, key, "refused");
    // An answer that took as long as the lease grants nothing that could be relied on: it is asked once more.
    if (stage.phase !== "held" && remainingMs(held, turn.now) === 0) {
      grantedUnseen(turn, key, hold, claim.id);
      return later(turn, key, 0);
    }
    turn.holds.set(key, { ...hold, stage: held, told: undefined });
    return handOver(turn, key);
  }
  if (claim.status !== "queued") return ended(turn, key, claim.status);
  if (stage.phase === "held") return lost(turn, key, "refused");
  // The stream may have been faster than the answer.
  const last = hold.told?.id === claim.id ? hold.told : undefined;
  if (last?.status === "active") return grantedUnseen(turn, key, hold, claim.id);
  if (last && last.status !== "queued") return ended(turn, key, last.status);
  const position = last ? last.position : claim.position;
  if (stage.phase === "waiting" && stage.claimId === claim.id) {
    // Something in between that answers at once must not be asked without end.
    const atOnce = flight.what === "poll" && turn.now.at - flight.sent.at < 1_000 && position === stage.position;
    moved(turn, key, hold, stage, position);
    return atOnce ? later(turn, key, 0) : undefined;
  }
  const checkAt = turn.now.at + WAITER_CHECK_MS;
  const waiting = { phase: "waiting", claimId: claim.id, position, granted: false, checkAt } as const;
  turn.holds.set(key, { ...hold, stage: waiting, told: undefined });
  for (const user of hold.users) joinLine(turn, key, user, position);
}

function grantedUnseen(turn: ClaimTurn, key: string, hold: Hold, claimId: string): void {
  const position = hold.stage.phase === "waiting" ? hold.stage.position : undefined;
  const stage = { phase: "waiting", claimId, position, granted: true, checkAt: turn.now.at } as const;
  turn.holds.set(key, { ...hold, stage, told: undefined });
}

function moved(
  turn: ClaimTurn,
  key: string,
  hold: Hold,
  stage: Extract<HoldStage, { phase: "waiting" }>,
  position: number | undefined,
): void {
  turn.holds.set(key, { ...hold, stage: { ...stage, position } });
  if (position !== stage.position) tell(turn, hold.users, { kind: "position", position });
}

function joinLine(turn: ClaimTurn, key: string, user: User, position: number | undefined): void {
  if (user.queue) return tell(turn, [user], { kind: "position", position });
  const hold = turn.holds.get(key);
  if (hold) turn.holds.set(key, { ...hold, users: hold.users.filter((each) => each !== user) });
  tell(turn, [user], { kind: "failed", failure: knownFailure("claim_conflict", "Somebody else holds it.") });
}

/** Tells those of its users who do not know yet that the claim is there. */
function handOver(turn: ClaimTurn, key: string): void {
  const hold = turn.holds.get(key);
  if (hold?.stage.phase !== "held") return;
  const { claimId, fence } = hold.stage;
  const news = hold.users.filter((user) => !user.has);
  turn.holds.set(key, { ...hold, users: hold.users.map((user) => ({ ...user, has: true })) });
  tell(turn, news, { kind: "granted", claimId, fence });
}

/** The claim ended without our doing: a lease is lost, a place in the line is taken anew. */
function ended(turn: ClaimTurn, key: string, status: Exclude<ClaimStatus, "active" | "queued">): void {
  const hold = turn.holds.get(key);
  if (!hold) return;
  if (hold.stage.phase === "held") return lost(turn, key, status);
  // What is still being asked is about a claim that is over.
  if (hold.flight) turn.effects.push({ do: "drop", key, n: hold.flight.n });
  turn.holds.set(key, { ...hold, stage: { phase: "asking", asked: true }, flight: undefined, told: undefined });
  later(turn, key, 0);
}

const GONE: ReadonlySet<string> = new Set(["claim_lost", "claim_not_found", "not_claim_holder"]);

function refused(turn: ClaimTurn, key: string, hold: Hold, failure: Failure, flight: Flight): void {
  if (hold.stage.phase === "held") return lost(turn, key, "refused");
  if (hold.stage.phase === "waiting" && GONE.has(failure.code)) return ended(turn, key, "expired");
  // Somebody who would wait came after the question was sent: it is asked once more.
  const stay = failure.code === "claim_conflict" && !flight.queue ? hold.users.filter((user) => user.queue) : [];
  if (stay.length > 0) turn.holds.set(key, { ...hold, users: stay });
  else turn.holds.delete(key);
  const others = hold.users.filter((user) => !stay.includes(user));
  tell(turn, others, { kind: "failed", failure });
}

/** An answer to somebody who has gone already. */
function leftOn(
  turn: ClaimTurn,
  key: string,
  hold: Hold,
  stage: Extract<HoldStage, { phase: "leaving" }>,
  flight: Flight,
  verdict: ReturnType<typeof verdictOf>,
): void {
  if (verdict.then === "again" || verdict.then === "sign-in") {
    if (verdict.then === "sign-in") turn.effects.push({ do: "tokenRefused", reason: verdict.reason });
    return later(turn, key, verdict.then === "again" ? verdict.atLeastMs : 0);
  }
  if (flight.what === "release" || verdict.then === "refused") return gone(turn, key);
  const claim = readClaim(verdict.body);
  if (claim) turn.holds.set(key, { ...hold, stage: { ...stage, claimId: claim.id } });
}

/** Nothing is left of it on the server; somebody who came meanwhile asks anew. */
function gone(turn: ClaimTurn, key: string): void {
  const hold = turn.holds.get(key);
  if (hold?.stage.phase !== "leaving") return;
  const { users, stage } = hold;
  turn.holds.delete(key);
  for (const lease of stage.left) tell(turn, [{ lease }], { kind: "released" });
  const asking = { phase: "asking", asked: false } as const;
  if (users.length > 0)
    turn.holds.set(key, { ...hold, stage: asking, flight: undefined, wait: undefined, told: undefined });
}

function lost(turn: ClaimTurn, key: string, reason: LossReason): void {
  const hold = turn.holds.get(key);
  turn.holds.delete(key);
  if (!hold) return;
  const goes = reason === "hidden" || reason === "closed";
  const owners = hold.users.filter((user) => goes || user.has);
  const others = hold.users.filter((user) => !goes && !user.has);
  tell(turn, owners, { kind: "lost", reason });
  // Who came last and had not been given it yet still wants it.
  if (others.length > 0)
    turn.holds.set(key, { ...hold, users: others, stage: { phase: "asking", asked: true }, flight: undefined });
  if (hold.stage.phase === "leaving")
    for (const lease of hold.stage.left) tell(turn, [{ lease }], { kind: "released" });
}

function later(turn: ClaimTurn, key: string, atLeastMs: number): void {
  const hold = turn.holds.get(key);
  if (!hold) return;
  const wait = waitAfter(hold.wait, PACE, turn.now.at, turn.roll, atLeastMs);
  const stage = hold.stage.phase === "waiting" ? { ...hold.stage, checkAt: turn.now.at } : hold.stage;
  turn.holds.set(key, { ...hold, wait, stage });
}

/** Whether this client has another claim on that record: giving up "all on the record" would take it along. */
const hasSibling = ({ holds }: ClaimTurn, key: string, { target }: Hold): boolean =>
  [...holds].some(([other, hold]) => other !== key && recordKey(hold.target) === recordKey(target));

function tell(turn: ClaimTurn, users: readonly { readonly lease: string }[], news: ClaimNews): void {
  for (const { lease } of users) turn.effects.push({ do: "tellLease", lease, news });
}

function readClaim(body: unknown): Claim | undefined {
  const claim = body as Partial<Claim> | null | undefined;
  return typeof claim?.id === "string" && typeof claim.status === "string" ? (claim as Claim) : undefined;
}
