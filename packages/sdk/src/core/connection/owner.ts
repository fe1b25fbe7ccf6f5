import { ask, type Draft, set, touch } from "../draft.ts";
import type { ClientState } from "../state.ts";
import { isAnothers, onTokenRefused } from "./auth.ts";
import { isSameOwner, isShort, withoutTenant } from "./owner-name.ts";

/*
 * A store belongs to one participant of one tenant, for ever: `<organization>/<live|test>/<kind>/<participant>`. The
 * server names the owner of the token with every answer that is read (welcome, log page, snapshot page). The first one
 * named makes the store theirs. When it names another owner later, the client shows nothing of the store, sends nothing,
 * and waits for a token of the owner: rows, writes and positions of one tenant mean nothing in another.
 *
 *   unknown ──owner named──► theirs ──another named──► withheld ──owner named──► theirs
 */

/** The server says whose the token is. `undefined`: an older server, which does not say. False: it is another owner's than the store. */
export function onOwner(draft: Draft, told: string | undefined, logId: string): boolean {
  const { owner, rows } = draft.state;
  const tokenOwner = told ?? owner ?? "";
  set(draft, { tokenOwner });
  if (told !== undefined && owner === undefined) ask(draft, { do: "own", owner: told });
  if (owner !== undefined && isShort(owner) && !isShort(tokenOwner) && isSameOwner(owner, tokenOwner)) {
    // The same person, but perhaps another tenant: only the log that the rows are of can tell.
    const isOther = rows.logId !== undefined && rows.logId !== logId;
    if (isOther) set(draft, { owner: `?/?/${withoutTenant(owner)}` });
    else ask(draft, { do: "own", owner: tokenOwner, instead: owner });
  }
  return checkOwner(draft);
}

/** Whose the store is, which another tab may have said before. */
export function onOwned(draft: Draft, owner: string): void {
  set(draft, { owner });
  checkOwner(draft);
}

/**
 * Shows or hides what the store holds. A follower has no connection of its own that would tell it whose its token is:
 * what the leader was told holds for all tabs.
 */
export function withhold(draft: Draft): void {
  const { lead, tabs, tokenOwner, withheld: before } = draft.state;
  const isKnown = (lead === "no" && tabs.line) || tokenOwner !== undefined;
  const isLeaders = lead === "no" && tabs.line?.withheld === true;
  const withheld = isKnown ? isLeaders || isAnothers(draft.state) : before;
  if (before !== withheld) touch(draft, "everything");
  set(draft, { withheld });
}

function checkOwner(draft: Draft): boolean {
  const { owner, tokenOwner } = draft.state;
  if (tokenOwner === undefined || owner === undefined) return true;
  withhold(draft);
  if (!isAnothers(draft.state)) return true;
  set(draft, { reading: { ...draft.state.reading, verified: false } });
  onTokenRefused(draft, anothersToken(draft.state));
  return false;
}

export const anothersToken = ({ owner, tokenOwner }: ClientState): string =>
  `The token belongs to ${tokenOwner ?? "another participant"}, but this store belongs to ${owner}. ` +
  "Use a separate store for each participant and organization (options user and store).";

/** Whether the server said that the present token is the owner's. Before that, nothing is sent. */
export const isOwners = ({ owner, tokenOwner, withheld }: ClientState): boolean =>
  !withheld && tokenOwner !== undefined && (owner === undefined ? tokenOwner === "" : isSameOwner(owner, tokenOwner));
