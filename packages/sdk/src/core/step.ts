import { hearAnswer } from "./answers.ts";
import { tokenCame, tokenFailed, tokenRefused } from "./auth.ts";
import { goOn, hurry, lineLost, streamClosed, streamOpened, welcomed } from "./connection.ts";
import { decide } from "./decide.ts";
import type { Effect } from "./effects.ts";
import type { ClientEvent } from "./events.ts";
import { refreshed } from "./overlay.ts";
import { hearLog, hearReadFailure, hearSnapshot, hearStretch, resync } from "./reading.ts";
import type { ClientState } from "./state.ts";
import { ask, set, type Turn } from "./turn.ts";
import { arrived, gone, mutated, persisted, restored, storageFailed } from "./writes.ts";

/**
 * The client as a function: what it believes, and what happened, give what it believes now and what it asks of the
 * world. The views of touched records are recomputed once, at the end.
 */
export function step(state: ClientState, event: ClientEvent): readonly [ClientState, readonly Effect[]] {
  const turn: Turn = { state: { ...state, touched: [] }, effects: [], now: event.now, roll: event.roll };
  hear(turn, event);
  goOn(turn);
  return [refreshed(turn.state, state), turn.effects];
}

function hear(turn: Turn, event: ClientEvent): void {
  switch (event.type) {
    case "restored":
      return restored(turn, event);
    case "persisted":
      return persisted(turn, event.places);
    case "storageFailed":
      return storageFailed(turn, event.reason);
    case "arrived":
      return arrived(turn, event.mutations);
    case "gone":
      return gone(turn, event.clientTxIds);
    case "leads":
      set(turn, { lead: "reading" });
      return ask(turn, { do: "readQueue" });
    case "queueRead":
      arrived(turn, event.mutations);
      return set(turn, { lead: "yes" });
    case "mutated":
      return mutated(turn, event);
    case "decided":
      return decide(turn, event.clientTxId, event.decision, event.newTxId);
    case "paused":
      set(turn, { paused: true });
      lineLost(turn);
      return ask(turn, { do: "abort" });
    case "resumed":
      set(turn, { paused: false });
      return hurry(turn);
    case "network":
      set(turn, { network: event.up });
      // That it is up may be told while a line is live: nothing of that line is lost then.
      return event.up ? hurry(turn) : lineLost(turn);
    case "woke":
      return hurry(turn);
    case "hidden":
    case "due":
      return;
    case "answered":
      return hearAnswer(turn, event);
    case "tokenCame":
      return tokenCame(turn, event.changed);
    case "tokenFailed":
      return tokenFailed(turn, event.reason);
    case "tokenRefused":
      return tokenRefused(turn, event.reason);
    case "streamOpened":
      return streamOpened(turn);
    case "streamClosed":
      return streamClosed(turn, event.code, event.reason);
    case "welcomed":
      return welcomed(turn, event);
    case "entriesCame":
      return hearStretch(turn, event);
    case "resyncAsked":
      return resync(turn, event.reason === "other_log" || event.reason === "ahead" ? "suspect" : "anew");
    case "logRead":
      return hearLog(turn, event);
    case "snapshotRead":
      return hearSnapshot(turn, event);
    case "readFailed":
      return hearReadFailure(turn, event.reply);
  }
}
