import { type Draft, emit, set } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { onServerTime } from "../queue/age.ts";
import type { ClientState, SessionState } from "../state.ts";
import { isFollower } from "../tabs/is-follower.ts";
import { canSend, onTokenAccepted } from "./auth.ts";
import { onOwner } from "./owner.ts";
import { dueNow, isDue, readPace, waitAfter } from "./retry.ts";

/*
 * How a follower learns the owner of its own token. It has no stream that names it, and the leader may have another
 * token.
 */

/** How often a follower asks its app for the token, because only the leader notices that one expires. */
const ASK_AGAIN_MS = 600_000;

/** A follower learns the owner of its own token: it makes no other request that names it. */
export function askOwnerWhenDue(draft: Draft): void {
  const { state, now } = draft;
  const { asking, tokenOwner, tabs } = state;
  if (!isFollower(state) || !tabs.areShared || asking.isUnder || !canSend(state)) return;
  const isLate = asking.againAt !== undefined && asking.againAt <= now;
  if (tokenOwner !== undefined && asking.againAt === undefined)
    return set<SessionState>(draft, { asking: { ...asking, againAt: now + ASK_AGAIN_MS } });
  if (tokenOwner !== undefined && !isLate) return;
  if (!isDue(asking.wait, now)) return;
  set<SessionState>(draft, { asking: { ...asking, isUnder: true, againAt: undefined } });
  emit(draft, { do: "askOwner", fresh: tokenOwner !== undefined });
}

export function onIdentified(draft: Draft, event: Extract<ClientEvent, { type: "identified" }>): void {
  set<SessionState>(draft, { asking: { isUnder: false, wait: undefined, againAt: draft.now + ASK_AGAIN_MS } });
  onServerTime(draft, event);
  if (onOwner(draft, event.owner)) onTokenAccepted(draft);
}

/** There was no answer. */
export function onNotIdentified(draft: Draft): void {
  const { asking } = draft.state;
  const wait = waitAfter(asking.wait, readPace, draft.now, draft.roll);
  set<SessionState>(draft, { asking: { isUnder: false, wait, againAt: undefined } });
}

/** The next attempt to ask is likely to succeed. */
export function retryAsking(draft: Draft): void {
  const { asking } = draft.state;
  set<SessionState>(draft, { asking: { ...asking, wait: dueNow(asking.wait, draft.now) } });
}

/** When a follower asks again. */
export const askDueAt = (state: ClientState): number | undefined =>
  isFollower(state) && state.tabs.areShared && canSend(state)
    ? (state.asking.wait?.at ?? state.asking.againAt)
    : undefined;
