import { canConnect, canSend, requestTokenWhenDue } from "./connection/auth.ts";
import { endWaits, keepStream } from "./connection/connection.ts";
import { askDueAt, askOwnerWhenDue } from "./connection/own-owner.ts";
import { renewWhenDue } from "./connection/renewal.ts";
import type { Draft } from "./draft.ts";
import { dropWithoutReading, readNext } from "./log/read-next.ts";
import { keepParts } from "./log/stream-parts.ts";
import { hasToSend } from "./queue/has-to-send.ts";
import { reloadDueAt } from "./queue/reconcile/reconcile.ts";
import { sendNext } from "./queue/send-next.ts";
import type { ClientState } from "./state.ts";

/** Starts every request that is due and not in flight. */
export function proceed(draft: Draft): void {
  if (draft.state.life === "starting") return;
  endWaits(draft);
  if (draft.state.network && !draft.state.paused) requestTokenWhenDue(draft);
  dropWithoutReading(draft);
  keepStream(draft);
  if (!canSend(draft.state)) return;
  askOwnerWhenDue(draft);
  renewWhenDue(draft);
  keepParts(draft);
  readNext(draft);
  sendNext(draft);
}

/**
 * When `proceed` should run again if no event arrives. Times up to `now` are left out: if a due action was not started,
 * it waits for another event, and a timer for it would fire in an endless loop.
 */
export function nextDueAt(state: ClientState, now: number): number | undefined {
  const times = waitsOf(state).filter((at) => at !== undefined && at > now) as number[];
  return times.length > 0 ? Math.min(...times) : undefined;
}

function waitsOf(state: ClientState): readonly (number | undefined)[] {
  const { life, paused, network, auth, stream, reading, sending, rows, sockets, renewal, awayUntil } = state;
  if (life === "starting") return [];
  if (paused || !network) return [reloadDueAt(state.shared)];
  return [
    reloadDueAt(state.shared),
    stream.missedAt,
    askDueAt(state),
    awayUntil,
    auth.phase === "refused" ? auth.wait.at : undefined,
    stream.phase === "live" ? renewal?.at : undefined,
    sockets && canConnect(auth) && stream.phase === "closed" && rows.position !== undefined
      ? stream.wait?.at
      : undefined,
    canConnect(auth) && reading.under === "nothing" ? reading.wait?.at : undefined,
    canConnect(auth) && reading.under === "nothing" ? reading.pollAt : undefined,
    canConnect(auth) && !sending.names && hasToSend(state) ? sending.wait?.at : undefined,
  ];
}
