import {
  type Attribution,
  type Claim,
  type ClaimStatus,
  type JsonObject,
  limits,
  type ParticipantKind,
} from "@holdfast/sdk/protocol";

export type ClaimAttribution = Pick<Attribution, "run" | "onBehalfOf">;

/** A claim as it is stored. Times are in milliseconds since 1970, all from the database's clock. */
export interface ClaimState {
  readonly id: string;
  /** In lower case. */
  readonly model: string;
  readonly record: string;
  /** Null: the whole record. */
  readonly field: string | null;
  readonly status: ClaimStatus;
  /** `<kind>:<id>` */
  readonly participant: string;
  readonly tokenId: string;
  readonly clientId: string | null;
  /** The groups that its token reaches; null: every record. */
  readonly groups: readonly string[] | null;
  readonly action: string;
  readonly description: string | null;
  readonly meta: JsonObject | null;
  /** In which run it was made, and for whom. Null: nothing was said. */
  readonly attribution: ClaimAttribution | null;
  readonly ttlMs: number;
  /** The order in the queue. */
  readonly place: number;
  readonly fence: number | null;
  /** The newest log position at the time of the grant. */
  readonly grantedSyncId: number | null;
  readonly createdAt: number;
  readonly grantedAt: number | null;
  readonly expiresAt: number | null;
  readonly endedAt: number | null;
  /** The last sign of life of a waiter. */
  readonly seenAt: number;
  /** When its token was revoked. */
  readonly revokedAt: number | null;
}

/** The claims of one record that have not ended. */
export type ClaimQueue = readonly ClaimState[];

export const isRevoked = ({ revokedAt }: ClaimState, now: number): boolean => revokedAt !== null && revokedAt <= now;

/** Whether the claim is held now. An expired lease holds nothing, even before its end is stored. */
export const isHeld = (claim: ClaimState, now: number): boolean =>
  claim.status === "active" && (claim.expiresAt ?? 0) > now && !isRevoked(claim, now);

export const isWaiting = ({ status }: ClaimState): boolean => status === "queued";

/** Whether a waiter has shown no sign of life for a while. It is passed over until the next one. */
export const isSilent = ({ seenAt }: ClaimState, now: number): boolean => now - seenAt > limits.waiterSilentMs;

/**
 * Who a claim is for: a participant, or one device of it if a clientId is named. Participant names contain no space.
 */
export const holderName = ({ participant, clientId }: Pick<ClaimState, "participant" | "clientId">): string =>
  clientId === null ? participant : `${participant} ${clientId}`;

/** Whether two claims exclude each other: different holders, and the same field or at least one whole record. */
export const isConflict = (a: Pick<ClaimState, "participant" | "clientId" | "field">, b: typeof a): boolean =>
  holderName(a) !== holderName(b) && (a.field === null || b.field === null || a.field === b.field);

export const inQueueOrder = (queue: ClaimQueue): ClaimState[] =>
  queue.filter(isWaiting).sort((a, b) => a.place - b.place || (a.id < b.id ? -1 : 1));

/** The current holders, oldest grant first. */
export const holdersOf = (queue: ClaimQueue, now: number): ClaimState[] =>
  queue.filter((claim) => isHeld(claim, now)).sort((a, b) => (a.fence ?? 0) - (b.fence ?? 0));

/** A claim as callers see it; `position` is set for a waiter. */
export function presentClaim(claim: ClaimState, declaredName: string, now: number, position?: number): Claim {
  const colon = claim.participant.indexOf(":");
  const { field } = claim;
  const status = statusOf(claim, now);
  return {
    object: "claim",
    id: claim.id,
    actor: claim.participant.slice(colon + 1),
    participantKind: claim.participant.slice(0, colon) as ParticipantKind,
    action: claim.action,
    ...(field !== null && { field }),
    status,
    ...(claim.fence !== null && { fence: claim.fence }),
    ...(claim.grantedSyncId !== null && { syncId: claim.grantedSyncId }),
    ...(position !== undefined && { position }),
    description: claim.description,
    meta: claim.meta && { ...claim.meta },
    ...claim.attribution,
    createdAt: iso(claim.createdAt),
    ...(status === "active" &&
      claim.expiresAt !== null && {
        expiresAt: iso(claim.expiresAt),
        expiresInMs: Math.max(0, claim.expiresAt - now),
      }),
    target: { model: declaredName, resource: declaredName, id: claim.record, ...(field !== null && { field }) },
  };
}

/** An expired claim is shown as ended even before that is stored. */
const statusOf = (claim: ClaimState, now: number): ClaimStatus =>
  claim.endedAt !== null
    ? claim.status
    : isRevoked(claim, now)
      ? "canceled"
      : isOver(claim, now)
        ? "expired"
        : claim.status;

const isOver = ({ status, expiresAt }: ClaimState, now: number): boolean =>
  status === "active" && (expiresAt ?? 0) <= now;

const iso = (ms: number): string => new Date(ms).toISOString();

/** All holders and the queue, as callers see them. */
export function presentQueue(
  queue: ClaimQueue,
  declaredName: string,
  now: number,
): { claims: Claim[]; queue: Claim[] } {
  return {
    claims: holdersOf(queue, now).map((claim) => presentClaim(claim, declaredName, now)),
    queue: inQueueOrder(queue).map((claim, position) => presentClaim(claim, declaredName, now, position)),
  };
}
