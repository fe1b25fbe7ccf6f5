import { canSend, onTokenAccepted } from "../connection/auth.ts";
import { onOwner } from "../connection/owner.ts";
import { isDue, readPace, waitAfter } from "../connection/retry.ts";
import { type Draft, emit, set } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { onServerTime } from "../queue/age.ts";
import type { ClientState } from "../state.ts";
import { isFollower } from "./is-follower.ts";

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
    return set(draft, { asking: { ...asking, againAt: now + ASK_AGAIN_MS } });
  if (tokenOwner !== undefined && !isLate) return;
  if (!isDue(asking.wait, now)) return;
  set(draft, { asking: { ...asking, isUnder: true, againAt: undefined } });
  emit(draft, { do: "askOwner", fresh: tokenOwner !== undefined });
}

export function onIdentified(draft: Draft, event: Extract<ClientEvent, { type: "identified" }>): void {
  set(draft, { asking: { isUnder: false, wait: undefined, againAt: draft.now + ASK_AGAIN_MS } });
  onServerTime(draft, event);
  if (onOwner(draft, event.owner)) onTokenAccepted(draft);
}

/** There was no answer. */
export function onNotIdentified(draft: Draft): void {
  const { asking } = draft.state;
  const wait = waitAfter(asking.wait, readPace, draft.now, draft.roll);
  set(draft, { asking: { isUnder: false, wait, againAt: undefined } });
}

/** When a follower asks again. */
export const askDueAt = (state: ClientState): number | undefined =>
  isFollower(state) && state.tabs.areShared && canSend(state)
    ? (state.asking.wait?.at ?? state.asking.againAt)
    : undefined;
