import { refreshed } from "./conflicts/refreshed.ts";
import { onToken, onTokenFailed, onTokenRefused } from "./connection/auth.ts";
import {
  connectAnew,
  dropOldToken,
  nextDueAt,
  onConnectionLost,
  onPageHidden,
  onStreamClosed,
  onStreamOpened,
  onWelcome,
  proceed,
  retryNow,
} from "./connection/connection.ts";
import { onOwned, updateWithheld } from "./connection/owner.ts";
import { onNotRenewed, onRenewed } from "./connection/renewal.ts";
import { type Draft, draftOf, emit, set } from "./draft.ts";
import type { ClientEvent } from "./events.ts";
import { forgetErased } from "./log/erased.ts";
import { noteKnownAt } from "./log/known-at.ts";
import { noteCovered, onLogPage, onLogRange, onPosition, onReadFailed, resync } from "./log/reading.ts";
import { onFollowed, onOtherScope, onPartsWanted } from "./log/scope.ts";
import { onSnapshotPage, pageLost } from "./log/snapshot.ts";
import { onPartAnswered, onPartsLeft } from "./log/stream-parts.ts";
import type { Machine } from "./machine.ts";
import { followClock, onExported } from "./queue/age.ts";
import { onBulkResponse } from "./queue/bulk-response.ts";
import { onDecided } from "./queue/decided.ts";
import { mayReload } from "./queue/reconcile/reconcile.ts";
import { onPersisted, reconcileQueue, reloadQueue } from "./queue/shared-queue.ts";
import { onRestored, onStorageFailed } from "./queue/store-read.ts";
import { onImported, onMutated } from "./queue/writes.ts";
import * as tabs from "./tabs/follower.ts";
import { isFollower } from "./tabs/is-follower.ts";
import * as lead from "./tabs/leadership.ts";
import { onIdentified, onNotIdentified } from "./tabs/own-owner.ts";

/** The complete client. Each step recomputes the views of touched records once, at its end. */
export const machineWith = (merging: Draft["merging"]): Machine => ({
  nextDueAt,
  step(state, event) {
    const draft = { ...draftOf(state, event, merging), wall: event.wall };
    const isAskedForTime = followClock(draft, event.lived);
    applyEvent(draft, event);
    if (isAskedForTime) connectAnew(draft);
    lead.leadIfOwner(draft);
    if (mayReload(draft.state.shared, draft.now)) reconcileQueue(draft, { type: "due" });
    proceed(draft);
    noteKnownAt(draft, state);
    tabs.shareConnection(draft, state);
    forgetErased(draft, state);
    return [draft.state === state ? state : refreshed(draft.state, state), draft.effects];
  },
});

/** The same for a schema without texts to merge. */
export const machine: Machine = machineWith(undefined);

function applyEvent(draft: Draft, event: ClientEvent): void {
  switch (event.type) {
    case "restored":
      return onRestored(draft, event);
    case "persisted":
      return onPersisted(draft, event);
    case "chunkMissing":
      return set(draft, { trouble: event.reason });
    case "storageFailed":
      onStorageFailed(draft, { code: event.code, reason: event.reason });
      return lead.leadAlone(draft);
    case "persistence":
      return set(draft, { persisted: event.granted });
    case "storeLost":
      return set(draft, { lostStore: { pending: event.pending, notedAt: event.notedAt } });
    case "arrived":
    case "changed":
    case "writing":
      return reconcileQueue(draft, event);
    case "elected":
      return lead.onElected(draft);
    case "leadTaken":
      return lead.onLeadTaken(draft, event);
    case "fenced":
      return lead.onFenced(draft, event.generation);
    case "log":
      return tabs.onLeaderLog(draft, event);
    case "rows":
      return tabs.onLeaderRows(draft, event);
    case "parts":
      return tabs.onLeaderParts(draft, event);
    case "queueRead":
      if (lead.isFenced(draft.state, event.snapshot)) lead.onFenced(draft);
      return tabs.onQueueRead(draft, event);
    case "connection":
      return tabs.onLeaderConnection(draft, event);
    case "joined":
      return tabs.onTabJoined(draft, event);
    case "leading":
      return lead.onOtherLeader(draft, event);
    case "owned":
      return onOwned(draft, event.owner);
    case "choosing":
      return set(draft, { choosing: event.name, trouble: event.reason });
    case "identified":
      return onIdentified(draft, event);
    case "notIdentified":
      return onNotIdentified(draft);
    case "renewed":
      return onRenewed(draft, event);
    case "notRenewed":
      return onNotRenewed(draft);
    case "schemaPushed":
      return noteCovered(draft, event.models);
    case "signedOut":
      return;
    case "connectionWanted":
      return set(draft, { tabs: { ...draft.state.tabs, ownSocket: true } });
    case "followed":
      return onFollowed(draft, event.scope, event.followed);
    case "partsWanted":
      return onPartsWanted(draft, event.scope);
    case "scope":
      return onOtherScope(draft, event);
    case "exported":
      return onExported(draft);
    case "imported":
      return onImported(draft, event.mutations);
    case "mutated":
      return onMutated(draft, event);
    case "decided":
      return onDecided(draft, event);
    case "paused":
      set(draft, { paused: true });
      onConnectionLost(draft);
      lead.stepDown(draft);
      emit(draft, { do: "abort" });
      return emit(draft, { do: "campaign", wanted: false });
    case "resumed":
      if (draft.state.paused) lead.campaign(draft);
      set(draft, { paused: false });
      return retryNow(draft);
    case "network":
      set(draft, { network: event.up });
      // The event may arrive while a connection is live, so going online must not discard that connection's state.
      return event.up ? retryNow(draft) : onConnectionLost(draft);
    case "woke":
      set(draft, { awayUntil: undefined });
      if (isFollower(draft.state)) emit(draft, { do: "post", message: { type: "hurry" } });
      // The tab may have been suspended while another tab became the leader. Read the disk before sending anything.
      if (draft.state.lead === "yes") reloadQueue(draft);
      return retryNow(draft);
    case "hurry":
      return retryNow(draft);
    case "hidden":
      return onPageHidden(draft);
    case "due":
      return;
    case "answered":
      return onBulkResponse(draft, event);
    case "tokenReceived":
      if (event.changed) dropOldToken(draft);
      onToken(draft, event.changed);
      return updateWithheld(draft);
    case "tokenFailed":
      return onTokenFailed(draft, event);
    case "tokenRefused":
      return onTokenRefused(draft, event.reason);
    case "streamOpened":
      return onStreamOpened(draft);
    case "streamClosed":
      return onStreamClosed(draft, event.code, event.reason);
    case "welcomed":
      return onWelcome(draft, event);
    case "partAnswered":
      return onPartAnswered(draft, event.id, event.position);
    case "partsLeft":
      return onPartsLeft(draft, event.ids);
    case "entriesReceived":
      return onLogRange(draft, event);
    case "positionKnown":
      return onPosition(draft, event.position);
    case "resyncRequested":
      return resync(draft, event.reason === "other_log" || event.reason === "ahead" ? "suspect" : "anew");
    case "logRead":
      return onLogPage(draft, event);
    case "snapshotRead":
      return onSnapshotPage(draft, event);
    case "pageLost":
      return pageLost(draft);
    case "readFailed":
      return onReadFailed(draft, event.reply);
  }
}
