import { type Draft, emit, set } from "../draft.ts";
import { unverify } from "../log/reading-state.ts";
import type { SessionState } from "../state.ts";
import { retryNow } from "./retry-now.ts";

/* Whether the app and the device let the client connect. */

export function onPaused(draft: Draft): void {
  set<SessionState>(draft, { paused: true });
  unverify(draft);
  emit(draft, { do: "abort" });
}

export function onResumed(draft: Draft): void {
  set<SessionState>(draft, { paused: false });
  retryNow(draft);
}

export function onNetwork(draft: Draft, { up }: { readonly up: boolean }): void {
  set<SessionState>(draft, { network: up });
  // The event may arrive while a connection is live, so going online must not discard that connection's state.
  if (up) retryNow(draft);
  else unverify(draft);
}

export function onWoke(draft: Draft): void {
  set<SessionState>(draft, { awayUntil: undefined });
  retryNow(draft);
}

/** If the page is not suspended after `pagehide`, its timers continue and the stream reopens after this time. */
const AWAY_MS = 2_000;

/** Some browsers do not cache a page with an open socket, and the socket would be dead when the page is shown again. */
export const onPageHidden = (draft: Draft): void => set<SessionState>(draft, { awayUntil: draft.now + AWAY_MS });
