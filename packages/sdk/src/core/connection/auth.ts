import { ask, set, type Turn } from "../draft.ts";
import type { Auth, ClientState } from "../state.ts";
import { isSameOwner } from "./owner-name.ts";
import { isDue, tokenPace, waitAfter } from "./retry.ts";

/*
 *  trusted ─refused─► asking ─another token─► trying ─it works─► trusted
 *                       ▲ │                     │
 *                       │ └─none, or the same─┐ └─refused─┐
 *                       └──────later──────  refused ◄─────┘        (status "needs-auth"; nothing is sent)
 */

export const mayTalk = ({ phase }: Auth): boolean => phase === "trusted" || phase === "trying";

/** The token is another owner's than the store (`owner.ts`): until another one comes nothing is asked with it. */
export const isAnothers = ({ owner, tokenOwner }: ClientState): boolean =>
  owner !== undefined && tokenOwner !== undefined && !isSameOwner(owner, tokenOwner);

/** Whether anything may be asked of the server now. */
export const mayGo = (state: ClientState): boolean =>
  !state.paused && state.network && mayTalk(state.auth) && !isAnothers(state);

/** The server refused the token, or the app had none to give. */
export function tokenRefused(turn: Turn, reason: string): void {
  const { auth } = turn.state;
  set(turn, { trouble: reason });
  switch (auth.phase) {
    case "trusted":
      set(turn, { auth: { phase: "asking", attempt: 0 } });
      return ask(turn, { do: "askToken" });
    case "trying":
      return waitForToken(turn, auth.attempt, reason);
    case "asking":
    case "refused":
      return;
  }
}

export function tokenCame(turn: Turn, changed: boolean): void {
  const { auth } = turn.state;
  // An answer to an earlier request may have said meanwhile that the token before it works.
  if (auth.phase !== "asking") return;
  // The same one is tried again too: the refusal may have been the answer to a request that was made with one before it.
  // Another owner's stays another owner's.
  if (changed || (auth.attempt > 0 && !isAnothers(turn.state)))
    set(turn, { auth: { phase: "trying", attempt: auth.attempt } });
  else waitForToken(turn, auth.attempt, turn.state.trouble ?? "The app gave the same token again.");
}

export function tokenFailed(turn: Turn, { reason, unreachable }: { reason: string; unreachable: boolean }): void {
  const { auth } = turn.state;
  if (auth.phase === "asking") waitForToken(turn, auth.attempt, reason, unreachable);
}

export function tokenWorks(turn: Turn): void {
  if (turn.state.auth.phase !== "trusted" && !isAnothers(turn.state))
    set(turn, { auth: { phase: "trusted" }, trouble: undefined });
}

/** Asks the app once more when the time has come. */
export function askTokenWhenDue(turn: Turn): void {
  const { auth } = turn.state;
  if (auth.phase !== "refused" || !isDue(auth.wait, turn.now)) return;
  set(turn, { auth: { phase: "asking", attempt: auth.wait.attempt } });
  ask(turn, { do: "askToken" });
}

function waitForToken(turn: Turn, attempt: number, reason: string, unreachable = false): void {
  const wait = waitAfter({ attempt, at: turn.now }, tokenPace, turn.now, turn.roll);
  set(turn, { auth: { phase: "refused", wait, reason, unreachable } });
}
