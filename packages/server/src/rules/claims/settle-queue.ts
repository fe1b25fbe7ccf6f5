import { limits } from "@holdfast/sdk/protocol";
import { type ClaimQueue, type ClaimState, inQueueOrder, isConflict, isHeld, isRevoked, isSilent } from "./claim.ts";

/** What a line is judged by besides its claims. */
export interface QueueFacts {
  readonly now: number;
  /** The groups of the record; undefined: it is gone. */
  readonly groups: readonly string[] | undefined;
  /** How far the log reaches. */
  readonly syncId: number;
  /** Gives the fence of the next grant. */
  readonly nextFence: () => number;
}

/**
 * Brings a line up to the present: what is over ends, and whoever's turn it is gets the claim. Nobody overtakes a living
 * waiter that it conflicts with. A waiter is judged again before it is granted: it has to be alive, its token good, and
 * the record still within its groups. Answers every claim, the ended ones too; those that did not change are the same values.
 */
export function settleQueue(queue: ClaimQueue, facts: QueueFacts): ClaimQueue {
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

/** The claim as time and its record have left it. */
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

/** The same lease for longer, or for less: from now on, and a day in all at most. */
export function renewed(claim: ClaimState, ttlMs: number, now: number): ClaimState {
  const last = (claim.grantedAt ?? now) + limits.claimLongestMs;
  return { ...claim, ttlMs, expiresAt: Math.min(now + ttlMs, last) };
}
