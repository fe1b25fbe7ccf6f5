import { refreshed } from "./conflicts/refreshed.ts";
import { onToken, onTokenFailed, onTokenRefused } from "./connection/auth.ts";
import * as availability from "./connection/availability.ts";
import { connectAnew, dropOldToken, onStreamClosed, onStreamOpened, onWelcome } from "./connection/connection.ts";
import { onIdentified, onNotIdentified } from "./connection/own-owner.ts";
import { onOwned, updateWithheld } from "./connection/owner.ts";
import { onNotRenewed, onRenewed } from "./connection/renewal.ts";
import { retryNow } from "./connection/retry-now.ts";
import { noteTrouble } from "./connection/trouble.ts";
import { type Draft, draftOf } from "./draft.ts";
import type { ClientEvent } from "./events.ts";
import { noteKnownAt } from "./log/known-at.ts";
import { noteCovered, onLogPage, onLogRange, onPosition, onReadFailed, onResyncRequested } from "./log/reading.ts";
import { onFollowed, onOtherScope, onPartsWanted } from "./log/scope.ts";
import { onSnapshotPage, pageLost } from "./log/snapshot.ts";
import { onPartAnswered, onPartsLeft } from "./log/stream-parts.ts";
import type { Machine } from "./machine.ts";
import { nextDueAt, proceed } from "./proceed.ts";
import { followClock, onExported } from "./queue/age.ts";
import { onBulkResponse } from "./queue/bulk-response.ts";
import { onDecided } from "./queue/decided.ts";
import { forgetErased } from "./queue/erased.ts";
import * as queue from "./queue/shared-queue.ts";
import { onImported, onMutated } from "./queue/writes.ts";
import type { ClientState } from "./state.ts";
import * as store from "./store/store-events.ts";
import { onRestored } from "./store/store-read.ts";
import * as follower from "./tabs/follower.ts";
import * as lead from "./tabs/leadership.ts";
import { wantOwnSocket } from "./tabs/tabs-state.ts";

/*
 * A client is five machines. Each owns some fields of the state and a folder, and no other folder changes these fields.
 * An event goes to the machines that it concerns, in this order; each sees what the ones before it have changed.
 */

/** The store and the session first, because the others ask whether they work. */
const order = ["store", "session", "replica", "queue", "tabs"] as const;

type Takes<E> = { readonly [M in (typeof order)[number]]?: (draft: Draft, event: E) => void };

type Of<T extends ClientEvent["type"]> = Extract<ClientEvent, { type: T }>;

/** What happens to a client, and who takes it. */
const takes: { readonly [T in ClientEvent["type"]]: Takes<Of<T>> } = {
  // The store
  restored: { store: onRestored },
  choosing: { store: store.onChoosing },
  storageFailed: { store: store.onStorageFailed, queue: queue.onDiskFailed, tabs: lead.leadAlone },
  persistence: { store: store.onPersistence },
  storeLost: { store: store.onStoreLost },
  chunkMissing: { session: (draft, { reason }) => noteTrouble(draft, reason) },
  owned: { session: onOwned },
  persisted: { queue: queue.onPersisted },
  queueRead: { tabs: lead.onQueueRead },
  pageLost: { replica: pageLost },
  // The app
  mutated: { queue: onMutated },
  decided: { queue: onDecided },
  exported: { queue: onExported },
  imported: { queue: (draft, { mutations }) => onImported(draft, mutations) },
  followed: { replica: (draft, { scope, followed }) => onFollowed(draft, scope, followed) },
  partsWanted: { replica: (draft, { scope }) => onPartsWanted(draft, scope) },
  connectionWanted: { tabs: wantOwnSocket },
  paused: { session: availability.onPaused, tabs: lead.onPaused },
  resumed: { session: availability.onResumed, tabs: lead.onResumed },
  // The device
  network: { session: availability.onNetwork },
  woke: { session: availability.onWoke, queue: queue.onWoke, tabs: follower.onWoke },
  hidden: { session: availability.onPageHidden },
  due: {},
  // The other tabs
  elected: { tabs: lead.onElected },
  leadTaken: { tabs: lead.onLeadTaken },
  fenced: { tabs: (draft, { generation }) => lead.onFenced(draft, generation) },
  leading: { tabs: lead.onOtherLeader },
  joined: { tabs: follower.onTabJoined },
  connection: { tabs: follower.onLeaderConnection },
  log: { tabs: follower.onLeaderLog },
  rows: { tabs: follower.onLeaderRows },
  parts: { tabs: follower.onLeaderParts },
  scope: { replica: onOtherScope },
  arrived: { queue: queue.reconcileQueue },
  changed: { queue: queue.reconcileQueue },
  writing: { queue: queue.reconcileQueue },
  hurry: { session: retryNow },
  // The tabs' client objects close by themselves.
  signedOut: {},
  // The token
  tokenReceived: { session: onTokenReceived },
  tokenFailed: { session: onTokenFailed },
  tokenRefused: { session: (draft, { reason }) => onTokenRefused(draft, reason) },
  renewed: { session: onRenewed },
  notRenewed: { session: onNotRenewed },
  identified: { session: onIdentified },
  notIdentified: { session: onNotIdentified },
  // The server
  streamOpened: { session: onStreamOpened },
  streamClosed: { session: (draft, { code, reason }) => onStreamClosed(draft, code, reason) },
  welcomed: { session: onWelcome },
  schemaPushed: { replica: (draft, { models }) => noteCovered(draft, models) },
  partAnswered: { replica: (draft, { id, position }) => onPartAnswered(draft, id, position) },
  partsLeft: { replica: (draft, { ids }) => onPartsLeft(draft, ids) },
  entriesReceived: { replica: (draft, range) => onLogRange(draft, range) },
  positionKnown: { replica: (draft, { position }) => onPosition(draft, position) },
  resyncRequested: { replica: onResyncRequested },
  logRead: { replica: onLogPage },
  snapshotRead: { replica: onSnapshotPage },
  readFailed: { replica: (draft, { reply }) => onReadFailed(draft, reply) },
  answered: { queue: onBulkResponse },
};

function onTokenReceived(draft: Draft, { changed }: Of<"tokenReceived">): void {
  if (changed) dropOldToken(draft);
  onToken(draft, changed);
  updateWithheld(draft);
}

/** What follows from whatever has changed, in this order. */
const afterEach: readonly ((draft: Draft, before: ClientState) => void)[] = [
  // A tab with another owner's token leads no more, so that it starts nothing as the leader.
  lead.leadIfOwner,
  queue.reloadIfDue,
  // Starts requests, now that everything that decides about them is known.
  proceed,
  // The status is that of this step: it is stored with the rows, and told to the other tabs.
  noteKnownAt,
  follower.shareConnection,
  // Last, because any of these may have brought a write with values of an erased record.
  forgetErased,
];

/** The complete client. Each step recomputes the views of touched records once, at its end. */
export const machineWith = (merging: Draft["merging"]): Machine => ({
  nextDueAt,
  step(state, event) {
    const draft = { ...draftOf(state, event, merging), wall: event.wall };
    const isAskedForTime = followClock(draft, event.lived);
    const taken: Takes<never> = takes[event.type];
    for (const machine of order) taken[machine]?.(draft, event as never);
    if (isAskedForTime) connectAnew(draft);
    for (const then of afterEach) then(draft, state);
    return [draft.state === state ? state : refreshed(draft.state, state), draft.effects];
  },
});

/** The same for a schema without texts to merge. */
export const machine: Machine = machineWith(undefined);
