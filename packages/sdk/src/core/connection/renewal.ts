import { type Draft, emit, set } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { compareRows, noteCovered } from "../log/reading.ts";
import type { Renewal, SessionState } from "../state.ts";
import { onOwner } from "./owner.ts";

/*
 * The client renews a token before it expires, at about 80 % of its remaining life if the server reports the expiry.
 * The time is random within a range, so that clients which started together do not renew together. The client sends the
 * next token on the open stream, and uses it for requests only after the server has accepted it (`renewed`). If the app
 * has no other token yet, or no answer arrives, the client tries again after half of the remaining time. If all
 * attempts fail, the token expires and the server refuses a request (`auth.ts`).
 */

const FROM = 0.75;
const SPREAD = 0.1;
/** Closer to the expiry than this, a request in flight would be refused anyway. */
const LAST_MS = 1_000;

export function renewalAfter(
  expiresInMs: number | null | undefined,
  { now, roll }: Pick<Draft, "now" | "roll">,
): Renewal | undefined {
  if (expiresInMs === null || expiresInMs === undefined) return undefined;
  return { at: now + expiresInMs * (FROM + SPREAD * roll), endsAt: now + expiresInMs };
}

export function renewWhenDue(draft: Draft): void {
  const { renewal, stream } = draft.state;
  if (!renewal || renewal.at > draft.now || stream.phase !== "live") return;
  tryAgainLater(draft, renewal);
  emit(draft, { do: "renewToken" });
}

/** The app returned the same token again, or none. */
export function onNotRenewed(draft: Draft): void {
  const { renewal } = draft.state;
  if (renewal) tryAgainLater(draft, renewal);
}

function tryAgainLater(draft: Draft, renewal: Renewal): void {
  const left = renewal.endsAt - draft.now;
  set<SessionState>(draft, { renewal: left < LAST_MS ? undefined : { ...renewal, at: draft.now + left / 2 } });
}

/** The server accepted the next token: the stream continues with it. */
export function onRenewed(draft: Draft, event: Extract<ClientEvent, { type: "renewed" }>): void {
  const { rowsVersion } = draft.state.rows;
  if (!onOwner(draft, event.owner)) return;
  set<SessionState>(draft, { renewal: renewalAfter(event.expiresInMs, draft) });
  noteCovered(draft, event.models);
  compareRows(draft, { rowsVersion, viewHash: event.viewHash });
}
