import { clientLimits as limits } from "../../protocol/client-limits.ts";
import { closeCodes } from "../../protocol/stream/close-codes.ts";
import { type Draft, emit, set } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { compareRows, isOtherLog, noteCovered, pageOf } from "../log/reading.ts";
import { partsToRead, scopeToRead } from "../log/scope-to-read.ts";
import { addParts } from "../log/snapshot.ts";
import { beginParts, isAnswered, isReadBeside, keepParts, nameRest } from "../log/stream-parts.ts";
import { asSent, isTooOld, onServerTime, tooOld } from "../queue/age.ts";
import { bulkBody, nextBulk } from "../queue/bulk.ts";
import { reject } from "../queue/bulk-response.ts";
import { localFailure } from "../queue/failure.ts";
import type { Mutation } from "../queue/mutation.ts";
import { withChanged } from "../queue/queue-changes.ts";
import { reloadDueAt } from "../queue/reconcile/reconcile.ts";
import { knowsQueue } from "../queue/shared-queue.ts";
import type { ClientState } from "../state.ts";
import { isFollower } from "../tabs/is-follower.ts";
import { askDueAt, askOwnerWhenDue } from "../tabs/own-owner.ts";
import { canConnect, canSend, onTokenAccepted, onTokenRefused, requestTokenWhenDue } from "./auth.ts";
import { isPolling } from "./is-polling.ts";
import { isOwners, onOwner } from "./owner.ts";
import { onRecordBytes } from "./record-bytes.ts";
import { renewalAfter, renewWhenDue } from "./renewal.ts";
import { dueNow, isDue, readPace, waitAfter, waitForRestart } from "./retry.ts";
import { isSameOwner } from "./same-owner.ts";

/*
 * Decides, at the end of each step, which requests to start and whether the socket should be open:
 *
 *             ┌───────── closed, failed ◄──────────┐
 *             ▼                                    │
 *          closed ── may send, rows read ──► opening ─welcome─► live
 *             ▲                                                  │
 *             └── paused · no network · rows to be read again ───┘
 *
 * While the socket fails to open, the client polls the log over HTTP instead.
 */

const POLL_MS = 5_000;

export function onStreamOpened(draft: Draft): void {
  const { rows, scope, stream } = draft.state;
  if (stream.phase !== "opening" || rows.logId === undefined || rows.position === undefined) return;
  const said = beginParts(draft);
  emit(draft, { do: "sendHello", logId: rows.logId, since: rows.position, scope, view: rows.viewHash, ...said });
}

export function onWelcome(draft: Draft, event: Extract<ClientEvent, { type: "welcomed" }>): void {
  const { logId, stamp, participant, session, owner } = event;
  set(draft, { self: { participant, session } });
  if (!onOwner(draft, owner)) return;
  onRecordBytes(draft, event);
  onServerTime(draft, event);
  if (isOtherLog(draft, logId, stamp)) return;
  const { reading } = draft.state;
  set(draft, {
    stream: { ...draft.state.stream, phase: "live", failures: 0, wait: undefined, missedAt: undefined, upTo: stamp },
    reading: { ...reading, verified: true, pollAt: undefined },
  });
  nameRest(draft);
  set(draft, { trouble: undefined });
  onTokenAccepted(draft);
  noteCovered(draft, event.models);
  set(draft, { renewal: renewalAfter(event.expiresInMs, draft) });
  compareRows(draft, event);
  // The connection works again: retries need not wait any longer.
  retryNow(draft);
}

export function onStreamClosed(draft: Draft, code: number, reason: string): void {
  const { stream } = draft.state;
  if (stream.phase === "closed") return;
  const wait =
    code === closeCodes.restarting
      ? waitForRestart(stream.wait, draft.now, draft.roll)
      : waitAfter(stream.wait, readPace, draft.now, draft.roll);
  // A socket that never opened says nothing of the requests, which may work.
  if (stream.phase === "live") onConnectionLost(draft);
  set(draft, { stream: { phase: "closed", failures: stream.failures + 1, wait, missedAt: missedAfter(draft) } });
  if (code === closeCodes.token) onTokenRefused(draft, reason || "The stream refused the token.");
}

/** From now on, requests use another token. Responses to the previous token must not be taken for this one's. */
export function dropOldToken(draft: Draft): void {
  set(draft, { self: undefined, tokenOwner: undefined, renewal: undefined, trouble: undefined });
  connectAnew(draft);
}

/** Ends what is under way. The clock may have been set: the server says its time again before anything is sent. */
export function connectAnew(draft: Draft): void {
  const { stream } = draft.state;
  onConnectionLost(draft);
  emit(draft, { do: "abort" });
  if (stream.phase === "closed") return;
  set(draft, { stream: { ...stream, phase: "closed", missedAt: missedAfter(draft) } });
  emit(draft, { do: "closeStream" });
}

/** How long a connection may be lost before the status shows it. */
const UNSEEN_MS = 1_000;

const missedAfter = ({ state: { stream }, now }: Draft): number | undefined =>
  stream.phase === "live" ? now + UNSEEN_MS : stream.missedAt;

/** If the page is not suspended after `pagehide`, its timers continue and the stream reopens after this time. */
const AWAY_MS = 2_000;

/** Some browsers do not cache a page with an open socket, and the socket would be dead when the page is shown again. */
export const onPageHidden = (draft: Draft): void => set(draft, { awayUntil: draft.now + AWAY_MS });

const isOver = (at: number | undefined, { now }: Draft): boolean => at !== undefined && at <= now;

/** The server that responds next may have been restored from a backup meanwhile. */
export function onConnectionLost(draft: Draft): void {
  set(draft, { reading: { ...draft.state.reading, verified: false } });
}

/** The next attempt is likely to succeed: end all waits. */
export function retryNow(draft: Draft): void {
  const { sending, reading, stream, auth, asking } = draft.state;
  set(draft, {
    asking: { ...asking, wait: dueNow(asking.wait, draft.now) },
    sending: { ...sending, wait: dueNow(sending.wait, draft.now) },
    reading: { ...reading, wait: dueNow(reading.wait, draft.now) },
    stream: { ...stream, wait: dueNow(stream.wait, draft.now) },
    ...(auth.phase === "refused" && { auth: { ...auth, wait: { ...auth.wait, at: draft.now } } }),
  });
}

/** Runs last in every step: starts every request that is due and not in flight. */
export function proceed(draft: Draft): void {
  if (draft.state.life === "starting") return;
  const { stream, awayUntil } = draft.state;
  if (isOver(stream.missedAt, draft)) set(draft, { stream: { ...stream, missedAt: undefined } });
  if (isOver(awayUntil, draft)) set(draft, { awayUntil: undefined });
  if (draft.state.network && !draft.state.paused) requestTokenWhenDue(draft);
  dropParts(draft);
  keepStream(draft);
  if (!canSend(draft.state)) return;
  askOwnerWhenDue(draft);
  renewWhenDue(draft);
  keepParts(draft);
  readOn(draft);
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

const hasToSend = ({ lead, queue }: ClientState) => lead === "yes" && queue.order.length > queue.waiting.length;

function keepStream(draft: Draft): void {
  const { state } = draft;
  const { stream, rows, reading } = state;
  const own = !isFollower(state) || state.tabs.ownSocket;
  const wanted =
    own &&
    state.sockets &&
    state.awayUntil === undefined &&
    canSend(state) &&
    rows.position !== undefined &&
    (reading.resync === "no" || isReadBeside(state));
  if (!wanted && stream.phase !== "closed") {
    set(draft, { stream: { ...stream, phase: "closed", missedAt: missedAfter(draft) } });
    onConnectionLost(draft);
    emit(draft, { do: "closeStream" });
  }
  if (wanted && draft.state.stream.phase === "closed" && isDue(stream.wait, draft.now)) {
    set(draft, { stream: { ...draft.state.stream, phase: "opening", parts: undefined } });
    emit(draft, { do: "openStream" });
  }
}

/** Nothing has to be read for parts that only go. */
function dropParts(draft: Draft): void {
  const { state } = draft;
  if (state.reading.resync === "parts" && !isFollower(state) && !partsToRead(state)) addParts(draft, {}, {});
}

function readOn(draft: Draft): void {
  const { reading, rows, scope, stream, sending } = draft.state;
  if (reading.under !== "nothing" || !isDue(reading.wait, draft.now)) return;
  const follows = isFollower(draft.state);
  if (rows.position === undefined || reading.resync !== "no") {
    // The leader reads the rows for all tabs.
    if (follows) return;
    // The queue may be offered again after this read, so none of it may be in flight.
    if (sending.names && reading.resync === "suspect") return;
    if (reading.resync === "parts" && !isAnswered(draft.state)) return;
    set(draft, { reading: { ...reading, under: "snapshot" } });
    const limit = pageOf(reading.share, limits.snapshotPage);
    const cursor = reading.partial?.cursor ?? null;
    return emit(draft, { do: "readSnapshot", cursor, scope: scopeToRead(draft.state), limit });
  }
  const poll = !follows && isPolling(draft.state);
  if (poll && reading.pollAt === undefined && reading.verified)
    return set(draft, { reading: { ...reading, pollAt: draft.now + POLL_MS } });
  const due = reading.pollAt !== undefined && reading.pollAt <= draft.now;
  // The `welcome` frame would say the same, but the queue should not wait for a socket that may never open.
  const isUnknown = !reading.verified || draft.state.tokenOwner === undefined;
  const unverified = isUnknown && stream.phase !== "live" && hasToSend(draft.state);
  const first = poll && !reading.verified;
  if (reading.missing === undefined && !(poll && due) && !unverified && !first) return;
  const pollAt = poll ? draft.now + POLL_MS : undefined;
  set(draft, { reading: { ...reading, under: "log", pollAt, requested: reading.missing } });
  const limit = pageOf(reading.share, limits.logPageMax);
  emit(draft, { do: "readLog", after: rows.position, scope, limit });
}

const UNOWNED =
  "The client did not know whose write this is when it was made, and several owners have used this store. retry() sends it as the present owner's, discard() drops it.";

/** Whether a write is its store's owner's. A write of an unknown owner is, if the store never had another owner. */
function isOwn({ owner: writer }: Mutation, { owner, others }: ClientState): boolean {
  if (writer === null) return !others;
  return owner !== undefined && isSameOwner(writer, owner);
}

/** Only one request is in flight per client, because two could overtake each other. */
function sendNext(draft: Draft): void {
  const { sending, queue, reading, rows, generation } = draft.state;
  if (sending.names || reading.resync === "suspect" || !isDue(sending.wait, draft.now)) return;
  if (!isOwners(draft.state)) return;
  // Unknown writes may have to go before the known ones.
  if (!knowsQueue(draft.state)) return;
  // A position is invalid in another log. First verify that the log is still the same.
  if (!hasToSend(draft.state) || (!reading.verified && rows.position !== undefined)) return;
  const bulk = nextBulk(draft.state, sending.size);
  if (bulk.length === 0) return;
  const old = bulk.filter((m) => isTooOld(m, draft));
  if (old.length > 0) {
    for (const m of old) reject(draft, [m], tooOld(m, draft));
    return sendNext(draft);
  }
  const unowned = bulk.filter((m) => !isOwn(m, draft.state));
  if (unowned.length > 0) {
    reject(draft, unowned, localFailure("unowned", UNOWNED));
    return sendNext(draft);
  }
  const names = bulk.map((m) => m.clientTxId);
  const request = sending.request + 1;
  set(draft, {
    queue: withChanged(
      queue,
      bulk.map((m) => ({ ...asSent(m, draft), attempts: m.attempts + 1, stage: { phase: "sending" } })),
    ),
    sending: { ...sending, request, names },
  });
  const first = bulk.filter((m) => m.unsent).map((m) => asSent(m, draft));
  emit(draft, { do: "send", request, names, body: bulkBody(bulk), first, generation });
}
