import { ask, type Draft, set } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { compareRows, noteCovered } from "../log/reading.ts";
import type { Renewal } from "../state.ts";
import { onOwner } from "./owner.ts";

/*
 * A token is renewed while it is still good: at about 80 % of what is left of its life when the server names its end,
 * spread so that clients which started together do not ask together. The next token is said on the open stream; only
 * when the server has taken it (`renewed`), requests use it. When the app has no other token yet, or no answer comes, it is
 * tried again at half of the rest. If that does not help, the token ends, and a refusal is what tells (`auth.ts`).
 */

const FROM = 0.75;
const SPREAD = 0.1;
/** Closer to the end than this, a request in flight would be refused anyway. */
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
  ask(draft, { do: "renewToken" });
}

/** The app gave the same token again, or none. */
export function onNotRenewed(draft: Draft): void {
  const { renewal } = draft.state;
  if (renewal) tryAgainLater(draft, renewal);
}

function tryAgainLater(draft: Draft, renewal: Renewal): void {
  const left = renewal.endsAt - draft.now;
  set(draft, { renewal: left < LAST_MS ? undefined : { ...renewal, at: draft.now + left / 2 } });
}

/** The server took the next token: the stream goes on under it. */
export function onRenewed(draft: Draft, event: Extract<ClientEvent, { type: "renewed" }>): void {
  const { logId = "", rowsVersion } = draft.state.rows;
  if (!onOwner(draft, event.owner, logId)) return;
  set(draft, { renewal: renewalAfter(event.expiresInMs, draft) });
  noteCovered(draft, event.models);
  compareRows(draft, { rowsVersion, viewHash: event.viewHash });
}
