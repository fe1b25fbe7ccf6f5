import type { Claim } from "../../protocol/claims/claim.ts";
import type { ClaimDraft, Hold, Unread } from "./claim-state.ts";

/*
 * A grant and the log arrive over different paths. If the app edited at once, it could edit rows that lack the previous
 * holder's last changes. So the app is notified of a grant only when the rows have reached the position in the grant.
 */

/** How long an open stream may take to deliver the entries up to the grant before the log is read over HTTP. */
const STREAM_MS = 250;
/**
 * After this time the app is notified in any case. Its writes carry the rows' position, so they overwrite nothing
 * unseen.
 */
const LONGEST_MS = 5_000;

export function unreadOf({ syncId = 0 }: Claim, { readTo, now, connection }: ClaimDraft): Unread | undefined {
  if (readTo >= syncId) return undefined;
  return { syncId, fetchAt: now.at + (connection.live ? STREAM_MS : 0), until: now.at + LONGEST_MS };
}

export const isOutstanding = ({ syncId, until }: Unread, { readTo, now }: ClaimDraft): boolean =>
  readTo < syncId && now.at < until;

/** Whether the app waits for the rows to reach a grant. */
export const awaitsRows = (holds: Iterable<Hold>): boolean =>
  [...holds].some(({ stage }) => stage.phase === "held" && stage.unread !== undefined);
