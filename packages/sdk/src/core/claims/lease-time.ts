import type { ClaimDraft, HoldStage, Instant } from "./claim-state.ts";

/*
 * A lease counts from the moment in which the request was sent that it was granted by, on a clock that only goes
 * forward, and ends a tenth early. Nothing that the server says of the time is compared with a clock of ours.
 */

type Held = Extract<HoldStage, { phase: "held" }>;

/** However short what is left of a lease: not more often than this. */
const SOONEST_RENEWAL_MS = 300;

/** How long a lease may still be relied on; 0: not at all. On either clock: the one that stood still proves nothing. */
export function remainingMs(stage: HoldStage, now: Instant): number {
  if (stage.phase !== "held") return 0;
  const left = deadlineOf(stage) - now.at;
  return Math.max(0, Math.min(left, relied(stage.ttlMs) - (now.wall - stage.sent.wall)));
}

/** By the clock that only goes forward. When the wall's alone says so the server is asked first, if it can be. */
export const isOver = (stage: Held, { now, line }: ClaimDraft): boolean =>
  now.at >= deadlineOf(stage) || (!line.mayTalk && remainingMs(stage, now) === 0);

/** By either clock: of what was slept through the other one knows nothing. */
export const isForRenewal = (stage: Held, now: Instant): boolean =>
  Math.max(now.at - stage.sent.at, now.wall - stage.sent.wall) >= renewAt(stage) - stage.sent.at;

export const deadlineOf = ({ sent, ttlMs }: Held): number => sent.at + relied(ttlMs);

/** In whole milliseconds, as all times here: what is due must be due by the clock that rings for it. */
const relied = (ttlMs: number): number => Math.floor(ttlMs * 0.9);

export const renewAt = ({ sent, ttlMs }: Held): number => sent.at + Math.max(Math.ceil(ttlMs / 3), SOONEST_RENEWAL_MS);
