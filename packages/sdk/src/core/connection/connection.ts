import { clientLimits as limits } from "../../protocol/client-limits.ts";
import { closeCodes } from "../../protocol/stream/close-codes.ts";
import { ask, type Draft, set } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { compareRows, isOtherLog, noteCovered, pageOf } from "../log/reading.ts";
import { bulkBody, nextBulk } from "../queue/bulk.ts";
import { reject } from "../queue/bulk-response.ts";
import { localFailure } from "../queue/failure.ts";
import { withChanged } from "../queue/queue.ts";
import { knowsQueue, reloadDueAt } from "../queue/queue-snapshot.ts";
import type { ClientState } from "../state.ts";
import { isFollower } from "../tabs/tabs.ts";
import { askTokenWhenDue, canConnect, canSend, onTokenAccepted, onTokenRefused } from "./auth.ts";
import { isOwners, onOwner } from "./owner.ts";
import { renewalAfter, renewWhenDue } from "./renewal.ts";
import { dueNow, isDue, readPace, waitAfter, waitForRestart } from "./retry.ts";

/*
 *             ┌───────── closed, failed ◄──────────┐
 *             ▼                                    │
 *          closed ── may talk, rows read ──► opening ─welcome─► live
 *             ▲                                                  │
 *             └── paused · no network · rows to be read anew ────┘
 *
 * While the socket cannot be had, the log is asked for now and then instead.
 */

const POLL_AFTER_FAILURES = 3;
const POLL_MS = 5_000;

export function onStreamOpened(draft: Draft): void {
  const { rows, scope, stream } = draft.state;
  if (stream.phase !== "opening" || rows.logId === undefined || rows.position === undefined) return;
  ask(draft, { do: "sayHello", logId: rows.logId, since: rows.position, scope, view: rows.viewHash });
}

export function onWelcome(draft: Draft, event: Extract<ClientEvent, { type: "welcomed" }>): void {
  const { logId, stamp, participant, session, owner = participant } = event;
  set(draft, { self: { participant, session } });
  if (!onOwner(draft, owner, logId)) return;
  if (isOtherLog(draft, logId, stamp)) return;
  const { reading } = draft.state;
  set(draft, {
    stream: { phase: "live", failures: 0, wait: undefined },
    reading: { ...reading, verified: true, pollAt: undefined },
  });
  set(draft, { trouble: undefined });
  onTokenAccepted(draft);
  noteCovered(draft, event.models);
  // An older server knows nothing of renewed tokens.
  set(draft, { renewal: event.owner === undefined ? undefined : renewalAfter(event.expiresInMs, draft) });
  compareRows(draft, event);
  // The line works again: what waited for it need not wait longer.
  retryNow(draft);
}

export function onStreamClosed(draft: Draft, code: number, reason: string): void {
  const { stream } = draft.state;
  if (stream.phase === "closed") return;
  const wait =
    code === closeCodes.restarting
      ? waitForRestart(stream.wait, draft.now, draft.roll)
      : waitAfter(stream.wait, readPace, draft.now, draft.roll);
  onConnectionLost(draft);
  set(draft, { stream: { phase: "closed", failures: stream.failures + 1, wait, missedAt: missedAfter(draft) } });
  if (code === closeCodes.token) onTokenRefused(draft, reason || "The stream refused the token.");
}

/** From here on requests go out under another token. What the server says of the one before it must not be taken for this one's. */
export function dropOldToken(draft: Draft): void {
  const { stream } = draft.state;
  onConnectionLost(draft);
  set(draft, { self: undefined, tokenOwner: undefined, renewal: undefined, trouble: undefined });
  ask(draft, { do: "abort" });
  if (stream.phase === "closed") return;
  set(draft, { stream: { ...stream, phase: "closed", missedAt: missedAfter(draft) } });
  ask(draft, { do: "closeStream" });
}

/** How long a line may be gone before it is shown. */
const UNSEEN_MS = 1_000;

const missedAfter = ({ state: { stream }, now }: Draft): number | undefined =>
  stream.phase === "live" ? now + UNSEEN_MS : stream.missedAt;

/** In a page that is not put away after all its timers run on. */
const AWAY_MS = 2_000;

/** Not every browser keeps a page with an open socket, and the socket would be dead when the page is shown again. */
export const onPageHidden = (draft: Draft): void => set(draft, { awayUntil: draft.now + AWAY_MS });

const isOver = (at: number | undefined, { now }: Draft): boolean => at !== undefined && at <= now;

/** Whoever answers next may be a server that was restored from a backup meanwhile. */
export function onConnectionLost(draft: Draft): void {
  set(draft, { reading: { ...draft.state.reading, verified: false } });
}

/** Something suggests that it would work now: nothing waits for its next turn any longer. */
export function retryNow(draft: Draft): void {
  const { sending, reading, stream, auth } = draft.state;
  set(draft, {
    sending: { ...sending, wait: dueNow(sending.wait, draft.now) },
    reading: { ...reading, wait: dueNow(reading.wait, draft.now) },
    stream: { ...stream, wait: dueNow(stream.wait, draft.now) },
    ...(auth.phase === "refused" && { auth: { ...auth, wait: { ...auth.wait, at: draft.now } } }),
  });
}

/** Runs last in every step: asks for everything that may be done now and is not being done. */
export function proceed(draft: Draft): void {
  if (draft.state.life === "starting") return;
  const { stream, awayUntil } = draft.state;
  if (isOver(stream.missedAt, draft)) set(draft, { stream: { ...stream, missedAt: undefined } });
  if (isOver(awayUntil, draft)) set(draft, { awayUntil: undefined });
  if (draft.state.network && !draft.state.paused) askTokenWhenDue(draft);
  keepStream(draft);
  if (!canSend(draft.state)) return;
  renewWhenDue(draft);
  readOn(draft);
  sendNext(draft);
}

/**
 * When `goOn` should run again although nothing happens. What is due by `now` has had its turn: if it was not taken,
 * then something else has to happen first, and a timer for it would ring without end.
 */
export function nextDueAt(state: ClientState, now: number): number | undefined {
  const times = waitsOf(state).filter((at) => at !== undefined && at > now) as number[];
  return times.length > 0 ? Math.min(...times) : undefined;
}

function waitsOf(state: ClientState): readonly (number | undefined)[] {
  const { life, paused, network, auth, stream, reading, sending, rows, sockets, renewal, awayUntil } = state;
  if (life === "starting") return [];
  if (paused || !network) return [reloadDueAt(state)];
  return [
    reloadDueAt(state),
    stream.missedAt,
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
  const own = !isFollower(state) || state.tabs.ownLine;
  const wanted =
    own &&
    state.sockets &&
    state.awayUntil === undefined &&
    canSend(state) &&
    rows.position !== undefined &&
    reading.resync === "no";
  if (!wanted && stream.phase !== "closed") {
    set(draft, { stream: { ...stream, phase: "closed", missedAt: missedAfter(draft) } });
    onConnectionLost(draft);
    ask(draft, { do: "closeStream" });
  }
  if (wanted && draft.state.stream.phase === "closed" && isDue(stream.wait, draft.now)) {
    set(draft, { stream: { ...draft.state.stream, phase: "opening" } });
    ask(draft, { do: "openStream" });
  }
}

function readOn(draft: Draft): void {
  const { reading, rows, scope, stream, sending, sockets } = draft.state;
  if (reading.under !== "nothing" || !isDue(reading.wait, draft.now)) return;
  const follows = isFollower(draft.state);
  if (rows.position === undefined || reading.resync !== "no") {
    // The tab that leads reads them for all.
    if (follows) return;
    // The queue may be offered again after this: nothing of it may still be on its way.
    if (sending.names && reading.resync === "suspect") return;
    set(draft, { reading: { ...reading, under: "snapshot" } });
    const limit = pageOf(reading.share, limits.snapshotPage);
    return ask(draft, { do: "readSnapshot", cursor: reading.partial?.cursor ?? null, scope, limit });
  }
  const poll = !follows && (!sockets || (stream.phase !== "live" && stream.failures >= POLL_AFTER_FAILURES));
  if (poll && reading.pollAt === undefined && (sockets || reading.verified))
    return set(draft, { reading: { ...reading, pollAt: draft.now + POLL_MS } });
  const due = reading.pollAt !== undefined && reading.pollAt <= draft.now;
  // The socket's welcome would tell as well, but the queue should not wait for a socket that may not be to be had.
  const isUnknown = !reading.verified || draft.state.tokenOwner === undefined;
  const unverified = isUnknown && stream.phase !== "live" && hasToSend(draft.state);
  const first = !follows && !sockets && !reading.verified;
  if (reading.missing === undefined && !(poll && due) && !unverified && !first) return;
  const pollAt = poll ? draft.now + POLL_MS : undefined;
  set(draft, { reading: { ...reading, under: "log", pollAt, askedFor: reading.missing } });
  const limit = pageOf(reading.share, limits.logPageMax);
  ask(draft, { do: "readLog", after: rows.position, scope, limit });
}

/** A server that names the owner of a token takes the name of the log in a write too; an older one refuses what it does not know. */
const saysLogs = ({ tokenOwner }: ClientState): boolean => tokenOwner !== "";

/** One request in flight per client: two could overtake each other. */
function sendNext(draft: Draft): void {
  const { sending, queue, reading, rows } = draft.state;
  if (sending.names || reading.resync === "suspect" || !isDue(sending.wait, draft.now)) return;
  if (!isOwners(draft.state)) return;
  // What is not known yet may have to go before what is.
  if (!knowsQueue(draft.state)) return;
  // A position in a write means nothing in another log: first it is made sure that this is still the same one.
  if (!hasToSend(draft.state) || (!reading.verified && rows.position !== undefined)) return;
  const bulk = nextBulk(draft.state, sending.size);
  if (bulk.length === 0) return;
  const old = bulk.filter((m) => draft.now - m.createdAt > limits.resendMs);
  if (old.length > 0) {
    reject(draft, old, localFailure("too_old"));
    return sendNext(draft);
  }
  const names = bulk.map((m) => m.clientTxId);
  const request = sending.request + 1;
  set(draft, {
    queue: withChanged(
      queue,
      bulk.map((m) => ({ ...m, attempts: m.attempts + 1, stage: { phase: "sending" } })),
    ),
    sending: { ...sending, request, names },
  });
  ask(draft, { do: "send", request, names, body: bulkBody(bulk, saysLogs(draft.state)) });
}
