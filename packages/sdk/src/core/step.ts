import { refreshed } from "./conflicts/overlay.ts";
import { tokenCame, tokenFailed, tokenRefused } from "./connection/auth.ts";
import {
  dropOldToken,
  goOn,
  hurry,
  lineLost,
  nextDueAt,
  streamClosed,
  streamOpened,
  welcomed,
  wentAway,
} from "./connection/connection.ts";
import { owned, withhold } from "./connection/owner.ts";
import { notRenewed, renewed } from "./connection/renewal.ts";
import { ask, set, type Turn } from "./draft.ts";
import type { ClientEvent } from "./events.ts";
import { hearLog, hearReadFailure, hearStretch, noteCovered, positionTold, resync } from "./log/reading.ts";
import { followed, heardScope } from "./log/scope.ts";
import { hearSnapshot, pageLost } from "./log/snapshot.ts";
import type { Machine } from "./machine.ts";
import { hearAnswer } from "./queue/bulk-response.ts";
import { looked, lookWhenBehind } from "./queue/queue-snapshot.ts";
import { decided } from "./queue/resend.ts";
import { restored, storageFailed } from "./queue/restored.ts";
import * as sharedQueue from "./queue/shared-queue.ts";
import { imported, mutated } from "./queue/writes.ts";
import * as lead from "./tabs/leadership.ts";
import * as tabs from "./tabs/tabs.ts";

/** The whole client. The views of touched records are recomputed once, at the end of a step. */
export const machine: Machine = {
  nextDueAt,
  step(state, event) {
    const turn: Turn = {
      state: { ...state, touched: [], appended: [] },
      effects: [],
      now: event.now,
      roll: event.roll,
    };
    hear(turn, event);
    lead.leadIfOwners(turn);
    lookWhenBehind(turn);
    goOn(turn);
    tabs.tellLine(turn, state);
    return [refreshed(turn.state, state), turn.effects];
  },
};

function hear(turn: Turn, event: ClientEvent): void {
  switch (event.type) {
    case "restored":
      return restored(turn, event);
    case "persisted":
      return sharedQueue.persisted(turn, event);
    case "partMissing":
      return set(turn, { trouble: event.reason });
    case "storageFailed":
      storageFailed(turn, { code: event.code, reason: event.reason });
      return lead.standAlone(turn);
    case "persistence":
      return set(turn, { persisted: event.granted });
    case "storeLost":
      return set(turn, { lostStore: { pending: event.pending, notedAt: event.notedAt } });
    case "arrived":
      return sharedQueue.heardArrived(turn, event.mutations, event.asOf);
    case "changed":
      return sharedQueue.heardChanged(turn, event);
    case "writing":
      return sharedQueue.writing(turn, event.clientTxIds);
    case "leads":
      return lead.leads(turn);
    case "tookLead":
      return lead.tookLead(turn, event);
    case "deposed":
      return lead.deposed(turn, event.generation);
    case "log":
      return tabs.heardLog(turn, event);
    case "rows":
      return tabs.heardOfRows(turn, event);
    case "looked":
      if (lead.isReplaced(turn.state, event.look)) lead.deposed(turn);
      return looked(turn, event);
    case "line":
      return tabs.heardLine(turn, event);
    case "joined":
      return tabs.joined(turn, event);
    case "leading":
      return lead.heardOfLeader(turn, event);
    case "owned":
      return owned(turn, event.owner);
    case "renewed":
      return renewed(turn, event);
    case "notRenewed":
      return notRenewed(turn);
    case "schemaPushed":
      return noteCovered(turn, event.models);
    case "signedOut":
      return;
    case "lineWanted":
      return set(turn, { tabs: { ...turn.state.tabs, ownLine: true } });
    case "followed":
      return heardScope(turn, event);
    case "scope":
      return followed(turn, event.scope);
    case "imported":
      return imported(turn, event.mutations);
    case "mutated":
      return mutated(turn, event);
    case "decided":
      return decided(turn, event);
    case "paused":
      set(turn, { paused: true });
      lineLost(turn);
      lead.stepDown(turn);
      ask(turn, { do: "abort" });
      return ask(turn, { do: "stand", wanted: false });
    case "resumed":
      if (turn.state.paused) lead.stand(turn);
      set(turn, { paused: false });
      return hurry(turn);
    case "network":
      set(turn, { network: event.up });
      // That it is up may be told while a line is live: nothing of that line is lost then.
      return event.up ? hurry(turn) : lineLost(turn);
    case "woke":
      set(turn, { awayUntil: undefined });
      if (tabs.isFollower(turn.state)) ask(turn, { do: "post", message: { type: "hurry" } });
      // It may have stood still: what another one did meanwhile is on disk, and nothing is sent before that was looked at.
      if (turn.state.lead === "yes") sharedQueue.lookAgain(turn);
      return hurry(turn);
    case "hurry":
      return hurry(turn);
    case "hidden":
      return wentAway(turn);
    case "due":
      return;
    case "answered":
      return hearAnswer(turn, event);
    case "tokenCame":
      if (event.changed) dropOldToken(turn);
      tokenCame(turn, event.changed);
      return withhold(turn);
    case "tokenFailed":
      return tokenFailed(turn, event);
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
    case "positionTold":
      return positionTold(turn, event.position);
    case "resyncAsked":
      return resync(turn, event.reason === "other_log" || event.reason === "ahead" ? "suspect" : "anew");
    case "logRead":
      return hearLog(turn, event);
    case "snapshotRead":
      return hearSnapshot(turn, event);
    case "pageLost":
      return pageLost(turn);
    case "readFailed":
      return hearReadFailure(turn, event.reply);
  }
}
