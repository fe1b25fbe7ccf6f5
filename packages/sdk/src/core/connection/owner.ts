import { type Draft, emit, set, touch } from "../draft.ts";
import type { ClientState } from "../state.ts";
import { isAnothers, onTokenRefused } from "./auth.ts";
import { anothersToken, isSameOwner, isShort, withoutTenant } from "./owner-name.ts";

/*
 * A store belongs to one participant of one tenant, forever: `<organization>/<live|test>/<kind>/<participant>`. The
 * server names the token's owner in each response to a read (welcome, log page, snapshot page). The first owner that it
 * names becomes the owner of the store. If the server names another owner later, the client shows nothing of the store,
 * sends nothing, and waits for a token of the owner: rows, writes and positions of one tenant are invalid in another.
 *
 *   unknown ──owner named──► theirs ──another named──► withheld ──owner named──► theirs
 */

/**
 * The server has named the token's owner. `undefined`: an older server, which does not name it. Returns false if the
 * token belongs to another owner than the store.
 */
export function onOwner(draft: Draft, reported: string | undefined, logId: string): boolean {
  const { owner, rows } = draft.state;
  const tokenOwner = reported ?? owner ?? "";
  set(draft, { tokenOwner });
  if (reported !== undefined && owner === undefined) emit(draft, { do: "own", owner: reported });
  if (owner !== undefined && isShort(owner) && !isShort(tokenOwner) && isSameOwner(owner, tokenOwner)) {
    // The participant is the same, but the tenant may differ. Only the log of the rows can show that.
    const isOther = rows.logId !== undefined && rows.logId !== logId;
    if (isOther) set(draft, { owner: `?/?/${withoutTenant(owner)}` });
    else emit(draft, { do: "own", owner: tokenOwner, instead: owner });
  }
  return checkOwner(draft);
}

/** The owner of the store is known, perhaps from another tab. */
export function onOwned(draft: Draft, owner: string): void {
  set(draft, { owner });
  checkOwner(draft);
}

/**
 * Shows or hides the store's data. A follower has no connection that names the owner of its token, so the leader's
 * result applies to all tabs. A tab that is about to lead keeps it until the server has named its token's owner.
 */
export function updateWithheld(draft: Draft): void {
  const { tabs, tokenOwner, withheld: before } = draft.state;
  const isKnown = tabs.connection !== undefined || tokenOwner !== undefined;
  const withheld = isKnown ? tabs.connection?.withheld === true || isAnothers(draft.state) : before;
  if (before !== withheld) touch(draft, "everything");
  set(draft, { withheld });
}

function checkOwner(draft: Draft): boolean {
  const { owner, tokenOwner } = draft.state;
  if (tokenOwner === undefined || owner === undefined) return true;
  updateWithheld(draft);
  if (!isAnothers(draft.state)) return true;
  set(draft, { reading: { ...draft.state.reading, verified: false } });
  onTokenRefused(draft, anothersToken(draft.state));
  return false;
}

/** Whether the server has confirmed that the present token belongs to the owner. Before that, nothing is sent. */
export const isOwners = ({ owner, tokenOwner, withheld }: ClientState): boolean =>
  !withheld && tokenOwner !== undefined && (owner === undefined ? tokenOwner === "" : isSameOwner(owner, tokenOwner));
