import { limits } from "@holdfast/sdk/protocol";
import { type ClaimQueue, type ClaimState, inQueueOrder, isConflict, isHeld, isRevoked, isSilent } from "./claim.ts";

/** What a queue is judged by besides its claims. */
export interface QueueFacts {
  readonly now: number;
  /** The groups of the record. Undefined if it does not exist. */
  readonly groups: readonly string[] | undefined;
  /** The newest position in the log. */
  readonly syncId: number;
  /** Returns the fence for the next grant. */
  readonly nextFence: () => number;
}

/**
 * Brings a claim queue up to date, which happens before and after every order:
 *
 * - Ends claims whose lease is over, whose token is revoked, whose record is deleted, or whose waiter has been silent
 *   for too long.
 * - Grants claims to waiters in queue order. A waiter never overtakes one ahead of it that it conflicts with, unless
 *   that one is silent.
 * - Checks each waiter again before the grant: the record must still be within the groups of its token.
 *
 * Returns every claim, the ended ones too. Unchanged claims are the same objects.
 */
export function advanceQueue(queue: ClaimQueue, facts: QueueFacts): ClaimQueue {
  const present = new Map(queue.map((claim) => [claim.id, ended(claim, facts)]));
  const before: ClaimState[] = [];
  for (const waiter of inQueueOrder([...present.values()])) {
    if (isSilent(waiter, facts.now)) continue;
    const inTheWay = [...present.values()].filter((claim) => isHeld(claim, facts.now)).concat(before);
    if (inTheWay.some((other) => isConflict(other, waiter))) before.push(waiter);
    else present.set(waiter.id, mayHold(waiter, facts) ? granted(waiter, facts) : closed(waiter, "canceled", facts));
  }
  return [...present.values()];
}

/** The claim, closed if its time is over, its token is revoked or its record is deleted. */
function ended(claim: ClaimState, facts: QueueFacts): ClaimState {
  const { now, groups } = facts;
  if (groups === undefined || isRevoked(claim, now)) return closed(claim, "canceled", facts);
  if (claim.status === "active") return isHeld(claim, now) ? claim : closed(claim, "expired", facts);
  return now - claim.seenAt >= limits.waiterGoneMs ? closed(claim, "canceled", facts) : claim;
}

const mayHold = ({ groups }: ClaimState, { groups: filed }: QueueFacts): boolean =>
  groups === null || filed?.some((group) => groups.includes(group)) === true;

export const granted = (claim: ClaimState, { now, syncId, nextFence }: QueueFacts): ClaimState => ({
  ...claim,
  status: "active",
  fence: nextFence(),
  grantedSyncId: syncId,
  grantedAt: now,
  expiresAt: now + claim.ttlMs,
});

export const closed = (
  claim: ClaimState,
  status: ClaimState["status"],
  { now }: Pick<QueueFacts, "now">,
): ClaimState => ({
  ...claim,
  status,
  expiresAt: null,
  endedAt: now,
});

/** Extends or shortens a lease, from now. A claim lasts at most `claimLongestMs` in total. */
export function renewed(claim: ClaimState, ttlMs: number, now: number): ClaimState {
  const last = (claim.grantedAt ?? now) + limits.claimLongestMs;
  return { ...claim, ttlMs, expiresAt: Math.min(now + ttlMs, last) };
}
