import { type Draft, emit, set, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { unverify } from "../log/reading-state.ts";
import type { ClientState, SessionState } from "../state.ts";
import { noteLeaderLeaves } from "../tabs/tabs-state.ts";
import { isAnothers, onTokenRefused } from "./auth.ts";
import { OWNER_UNKNOWN, ownerOfTab } from "./owner-name.ts";
import { anothersToken, isPartial, isSameOwner } from "./same-owner.ts";

/*
 * A store belongs to one participant of one tenant, forever: `<organization>/<live|test>/<kind>/<participant>`. The
 * server names the token's owner in each response to a read (welcome, log page, snapshot page). The first owner that it
 * names becomes the owner of the store. If the server names another owner later, the client shows nothing of the store,
 * sends nothing, and waits for a token of the owner: rows, writes and positions of one tenant are invalid in another.
 *
 *   unknown ──owner named──► theirs ──another named──► withheld ──owner named──► theirs
 *
 * A tab that may share its store with others asks for its owner before it opens a store (`engine/choose-store.ts`), so
 * tabs of different owners have different stores. A follower that could not ask then asks later (`connection/own-owner.ts`).
 */

/**
 * The server has named the token's owner. Returns false if the token belongs to another owner than the store.
 */
export function onOwner(draft: Draft, tokenOwner: string): boolean {
  const { owner } = draft.state;
  set<SessionState>(draft, { tokenOwner });
  if (owner === undefined) emit(draft, { do: "own", owner: tokenOwner });
  else if (isPartial(owner) && isSameOwner(owner, tokenOwner))
    emit(draft, { do: "own", owner: tokenOwner, instead: owner });
  return checkOwner(draft);
}

/** The store says whose it is. */
export function restoreOwner(draft: Draft, event: Extract<ClientEvent, { type: "restored" }>): void {
  const { owner, others = false, recordBytes, tokenOwner, named } = event;
  set<SessionState>(draft, { owner, others, recordBytes, tokenOwner, named });
}

/** The owner of the store is known, perhaps from another tab. */
export function onOwned(draft: Draft, { owner }: { readonly owner: string }): void {
  set<SessionState>(draft, { owner });
  checkOwner(draft);
}

/**
 * Shows or hides the store's data. A tab whose own owner is known decides by itself. One that does not know it yet hides
 * the data if the leader does or is online, and shows nothing again before the server has named its own token's owner.
 */
export function updateWithheld(draft: Draft): void {
  const { tabs, tokenOwner, withheld: before, withheldReason: reason } = draft.state;
  // An online leader proves that the server can be asked, so a tab that took the store for its own waits for the answer.
  const isUnknown = ownerOfTab(draft.state) === undefined;
  const canAsk = tabs.areShared && isUnknown && tabs.connection?.name === "online";
  const stays = before || canAsk || tabs.connection?.withheld === true;
  const withheld = isAnothers(draft.state) || (tokenOwner === undefined && stays);
  if (before !== withheld) touch(draft, "everything");
  // The leader's token is another owner's and this tab's is not, so the leader is about to step down.
  if (!withheld) noteLeaderLeaves(draft);
  const isOther = isAnothers(draft.state) || (!before && tabs.connection?.withheld === true);
  const why = isOther ? anothersToken(draft.state) : before ? reason : OWNER_UNKNOWN;
  set<SessionState>(draft, { withheld, withheldReason: withheld ? why : undefined });
}

/** Returns false if the token belongs to another owner than the store. */
export function checkOwner(draft: Draft): boolean {
  const { owner, tokenOwner, named, others } = draft.state;
  if (owner === undefined || (tokenOwner === undefined && named === undefined)) return true;
  updateWithheld(draft);
  if (!isAnothers(draft.state)) {
    if (tokenOwner) set<SessionState>(draft, { lastOwner: tokenOwner });
    return true;
  }
  unverify(draft);
  // From now on the store remembers that another owner has used it.
  if (tokenOwner && !others && !isSameOwner(owner, tokenOwner)) {
    set<SessionState>(draft, { others: true });
    emit(draft, { do: "own", owner: tokenOwner });
  }
  onTokenRefused(draft, anothersToken(draft.state));
  return false;
}

/** Whether the server has confirmed that the present token belongs to the owner. Before that, nothing is sent. */
export const isOwners = (state: ClientState): boolean =>
  !state.withheld && state.tokenOwner !== undefined && !isAnothers(state) && state.owner !== undefined;
