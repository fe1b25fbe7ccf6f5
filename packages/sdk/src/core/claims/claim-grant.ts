import type { Claim } from "../../protocol/claims/claim.ts";
import type { ClaimDraft, Hold, Unread } from "./claim-state.ts";

/*
 * A grant is news of the claims, and comes over another way than the log. The app must not edit what the holder before it
 * has overwritten: it is told of the grant when the rows have read up to the position that the grant carries.
 */

/** How long an open stream may take to bring what the log had at the grant, before the log itself is asked. */
const STREAM_MS = 250;
/** Then the app is told all the same. Its writes say how far the rows had read, so none overwrites what it did not see. */
const LONGEST_MS = 5_000;

export function unreadOf({ syncId = 0 }: Claim, { readTo, now, line }: ClaimDraft): Unread | undefined {
  if (readTo >= syncId) return undefined;
  return { syncId, askAt: now.at + (line.live ? STREAM_MS : 0), until: now.at + LONGEST_MS };
}

export const isOutstanding = ({ syncId, until }: Unread, { readTo, now }: ClaimDraft): boolean =>
  readTo < syncId && now.at < until;

/** Whether the app waits for the rows to read up to a grant. */
export const awaitsRows = (holds: Iterable<Hold>): boolean =>
  [...holds].some(({ stage }) => stage.phase === "held" && stage.unread !== undefined);
