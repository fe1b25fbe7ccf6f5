import { type Draft, emit, set } from "../draft.ts";
import type { AuthState, ClientState, SessionState } from "../state.ts";
import { isDue, tokenPace, waitAfter } from "./retry.ts";
import { areDifferent } from "./same-owner.ts";
import { noteTrouble } from "./trouble.ts";

/*
 * How the client gets another token when the server refuses the present one:
 *
 * trusted ─refused─► asking ─another token─► trying ─it works─► trusted
 *                      ▲ │                     │
 *                      │ └─none, or the same─┐ └─refused─┐
 *                      └──────later──────  refused ◄─────┘        (status "needs-auth"; nothing is sent)
 */

export const canConnect = ({ phase }: AuthState): boolean => phase === "trusted" || phase === "trying";

/**
 * The token belongs to another owner than the store (`owner.ts`). Until the app provides another token, nothing is
 * requested.
 */
export const isAnothers = (state: ClientState): boolean => areDifferent(state);

/** Whether the client may send requests now. */
export const canSend = (state: ClientState): boolean =>
  !state.paused && state.network && canConnect(state.auth) && !isAnothers(state);

/** The server refused the token, or the app had none. */
export function onTokenRefused(draft: Draft, reason: string): void {
  const { auth } = draft.state;
  noteTrouble(draft, reason);
  switch (auth.phase) {
    case "trusted":
      set<SessionState>(draft, { auth: { phase: "asking", attempt: 0 } });
      return emit(draft, { do: "requestToken" });
    case "trying":
      return waitForToken(draft, auth.attempt, reason);
    case "asking":
    case "refused":
      return;
  }
}

export function onToken(draft: Draft, changed: boolean): void {
  const { auth } = draft.state;
  // A response to an earlier request may have shown meanwhile that the token works.
  if (auth.phase !== "asking") return;
  // Retry the same token too: the refusal may have answered a request that used the token before it. A token of another
  // owner is not retried.
  if (changed || (auth.attempt > 0 && !isAnothers(draft.state)))
    set<SessionState>(draft, { auth: { phase: "trying", attempt: auth.attempt } });
  else waitForToken(draft, auth.attempt, draft.state.trouble ?? "getToken returned the same token again.");
}

export function onTokenFailed(draft: Draft, { reason, unreachable }: { reason: string; unreachable: boolean }): void {
  const { auth } = draft.state;
  if (auth.phase === "asking") waitForToken(draft, auth.attempt, reason, unreachable);
}

export function onTokenAccepted(draft: Draft): void {
  if (draft.state.auth.phase !== "trusted" && !isAnothers(draft.state))
    set<SessionState>(draft, { auth: { phase: "trusted" }, trouble: undefined });
}

/** The next token is likely to be accepted. */
export function retryToken(draft: Draft): void {
  const { auth } = draft.state;
  if (auth.phase === "refused") set<SessionState>(draft, { auth: { ...auth, wait: { ...auth.wait, at: draft.now } } });
}

/** Requests a token from the app again when the wait is over. */
export function requestTokenWhenDue(draft: Draft): void {
  const { auth } = draft.state;
  if (auth.phase !== "refused" || !isDue(auth.wait, draft.now)) return;
  set<SessionState>(draft, { auth: { phase: "asking", attempt: auth.wait.attempt } });
  emit(draft, { do: "requestToken" });
}

function waitForToken(draft: Draft, attempt: number, reason: string, unreachable = false): void {
  const wait = waitAfter({ attempt, at: draft.now }, tokenPace, draft.now, draft.roll);
  set<SessionState>(draft, { auth: { phase: "refused", wait, reason, unreachable } });
}
