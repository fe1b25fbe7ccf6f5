import { ask, set, type Turn } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { compareRows, noteCovered } from "../log/reading.ts";
import type { Renewal } from "../state.ts";
import { heardOwner } from "./owner.ts";

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
  { now, roll }: Pick<Turn, "now" | "roll">,
): Renewal | undefined {
  if (expiresInMs === null || expiresInMs === undefined) return undefined;
  return { at: now + expiresInMs * (FROM + SPREAD * roll), endsAt: now + expiresInMs };
}

export function renewWhenDue(turn: Turn): void {
  const { renewal, stream } = turn.state;
  if (!renewal || renewal.at > turn.now || stream.phase !== "live") return;
  tryAgainLater(turn, renewal);
  ask(turn, { do: "renewToken" });
}

/** The app gave the same token again, or none. */
export function notRenewed(turn: Turn): void {
  const { renewal } = turn.state;
  if (renewal) tryAgainLater(turn, renewal);
}

function tryAgainLater(turn: Turn, renewal: Renewal): void {
  const left = renewal.endsAt - turn.now;
  set(turn, { renewal: left < LAST_MS ? undefined : { ...renewal, at: turn.now + left / 2 } });
}

/** The server took the next token: the stream goes on under it. */
export function renewed(turn: Turn, event: Extract<ClientEvent, { type: "renewed" }>): void {
  const { logId = "", rowsVersion } = turn.state.rows;
  if (!heardOwner(turn, event.owner, logId)) return;
  set(turn, { renewal: renewalAfter(event.expiresInMs, turn) });
  noteCovered(turn, event.models);
  compareRows(turn, { rowsVersion, viewHash: event.viewHash });
}
