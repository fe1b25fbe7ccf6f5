import type { Claim, ClaimFrame, ClaimsFrame } from "@holdfast/sdk/protocol";
import type { ClaimChange, ReadQueue } from "../flows/follow-claims.ts";
import {
  type ClaimState,
  holdersOf,
  inQueueOrder,
  isConflict,
  isWaiting,
  presentClaim,
  presentQueue,
} from "../rules/claim.ts";

/** The current claims of one record. */
export interface QueueNews {
  readonly queue: ReadQueue;
  /** The `claims` frame. */
  readonly text: string;
}

/** A change of one claim of a participant. */
export interface OwnNews {
  readonly model: string;
  readonly queue: ReadQueue;
  /** The `claim` frame. */
  readonly text: string;
  /** The same frame with the current holders, for a reader that may see the record. */
  readonly withHolders: string;
}

/** A claim whose owner is notified. */
export interface ConcernedClaim {
  readonly claim: ClaimState;
  /** Its position in the queue, if it waits. */
  readonly position: number | undefined;
}

/** The changed claims. If a waiter has left the queue, also all that wait, because their positions may have changed. */
export function concernedClaims(queue: ReadQueue, changes: readonly ClaimChange[]): ConcernedClaim[] {
  const waiters = inQueueOrder(queue.claims);
  const concerned = new Map<string, ClaimState>(
    changes.every(({ claim }) => isRenewal(claim)) ? [] : waiters.map((claim) => [claim.id, claim]),
  );
  const alive = new Map(queue.claims.map((claim) => [claim.id, claim]));
  for (const { claim } of changes) concerned.set(claim.id, alive.get(claim.id) ?? claim);
  return [...concerned.values()].map((claim) => {
    const position = isWaiting(claim) ? waiters.indexOf(claim) : -1;
    return { claim, position: position < 0 ? undefined : position };
  });
}

export function ownNews(declaredName: string, queue: ReadQueue, { claim, position }: ConcernedClaim): OwnNews {
  const shown = presentClaim(claim, declaredName, queue.now, position);
  const text = JSON.stringify({ frame: "claim", claim: shown } satisfies ClaimFrame);
  const withHolders = claim.endedAt === null ? text : endFrame(claim, shown, declaredName, queue);
  return { model: claim.model, queue, text, withHolders };
}

/** The frame for an ended claim, with the record's current holders. */
const endFrame = (ended: ClaimState, claim: Claim, declaredName: string, { claims, now }: ReadQueue): string =>
  JSON.stringify({
    frame: "claim",
    claim,
    holders: holdersOf(claims, now)
      .filter((holder) => isConflict(holder, ended))
      .map((holder) => presentClaim(holder, declaredName, now)),
  } satisfies ClaimFrame);

/** A renewed lease does not move the queue. */
const isRenewal = ({ status, expiresAt, grantedAt, ttlMs }: ClaimState): boolean =>
  status === "active" && (expiresAt ?? 0) !== (grantedAt ?? 0) + ttlMs;

export const queueFrame = (declaredName: string, id: string, { claims, now }: ReadQueue): string =>
  JSON.stringify({
    frame: "claims",
    model: declaredName,
    id,
    ...presentQueue(claims, declaredName, now),
  } satisfies ClaimsFrame);
