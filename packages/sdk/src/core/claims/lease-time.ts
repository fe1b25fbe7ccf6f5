import type { ClaimDraft, HoldStage, Instant } from "./claim-state.ts";

/*
 * A lease starts when the request that acquired or renewed it was sent, measured on a monotonic clock, and ends a tenth
 * early. Times of the server are never compared with clocks of the client.
 */

type Held = Extract<HoldStage, { phase: "held" }>;

/** The shortest interval between renewals, however little of the lease is left. */
const SOONEST_RENEWAL_MS = 300;

/**
 * How long a lease is still reliable; 0: not any more. The smaller result of both clocks counts, because either may
 * have stood still.
 */
export function remainingMs(stage: HoldStage, now: Instant): number {
  if (stage.phase !== "held") return 0;
  const left = deadlineOf(stage) - now.at;
  return Math.max(0, Math.min(left, relied(stage.ttlMs) - (now.wall - stage.sent.wall)));
}

/**
 * Uses the monotonic clock. If only the wall clock says that the lease is over, the server is asked first if possible.
 */
export const isOver = (stage: Held, { now, connection }: ClaimDraft): boolean =>
  now.at >= deadlineOf(stage) || (!connection.canRequest && remainingMs(stage, now) === 0);

/** Uses either clock: the monotonic one may not count time asleep. */
export const isForRenewal = (stage: Held, now: Instant): boolean =>
  Math.max(now.at - stage.sent.at, now.wall - stage.sent.wall) >= renewAt(stage) - stage.sent.at;

export const deadlineOf = ({ sent, ttlMs }: Held): number => sent.at + relied(ttlMs);

/** Whole milliseconds, like all times here, so that a timer never fires before the time is due. */
const relied = (ttlMs: number): number => Math.floor(ttlMs * 0.9);

export const renewAt = ({ sent, ttlMs }: Held): number => sent.at + Math.max(Math.ceil(ttlMs / 3), SOONEST_RENEWAL_MS);
