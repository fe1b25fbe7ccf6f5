import { clientLimits as limits } from "../../protocol/client-limits.ts";
import { closeCodes } from "../../protocol/stream/frames-down.ts";
import { ask, set, type Turn } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { compareRows, isOtherLog, noteCovered, pageOf } from "../log/reading.ts";
import { bulkBody, nextBulk } from "../queue/bulk.ts";
import { park } from "../queue/bulk-response.ts";
import { localFailure } from "../queue/failure.ts";
import { changed } from "../queue/queue.ts";
import { knowsQueue, lookDueAt } from "../queue/queue-snapshot.ts";
import type { ClientState } from "../state.ts";
import { isFollower } from "../tabs/tabs.ts";
import { askTokenWhenDue, mayGo, mayTalk, tokenRefused, tokenWorks } from "./auth.ts";
import { heardOwner, isOwners } from "./owner.ts";
import { renewalAfter, renewWhenDue } from "./renewal.ts";
import { hurried, isDue, readPace, waitAfter, waitForRestart } from "./retry.ts";

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

export function streamOpened(turn: Turn): void {
  const { rows, scope, stream } = turn.state;
  if (stream.phase !== "opening" || rows.logId === undefined || rows.position === undefined) return;
  ask(turn, { do: "sayHello", logId: rows.logId, since: rows.position, scope, view: rows.viewHash });
}

export function welcomed(turn: Turn, event: Extract<ClientEvent, { type: "welcomed" }>): void {
  const { logId, stamp, participant, session, owner = participant } = event;
  set(turn, { self: { participant, session } });
  if (!heardOwner(turn, owner, logId)) return;
  if (isOtherLog(turn, logId, stamp)) return;
  const { reading } = turn.state;
  set(turn, {
    stream: { phase: "live", failures: 0, wait: undefined },
    reading: { ...reading, verified: true, pollAt: undefined },
  });
  set(turn, { trouble: undefined });
  tokenWorks(turn);
  noteCovered(turn, event.models);
  // An older server knows nothing of renewed tokens.
  set(turn, { renewal: event.owner === undefined ? undefined : renewalAfter(event.expiresInMs, turn) });
  compareRows(turn, event);
  // The line works again: what waited for it need not wait longer.
  hurry(turn);
}

export function streamClosed(turn: Turn, code: number, reason: string): void {
  const { stream } = turn.state;
  if (stream.phase === "closed") return;
  const wait =
    code === closeCodes.restarting
      ? waitForRestart(stream.wait, turn.now, turn.roll)
      : waitAfter(stream.wait, readPace, turn.now, turn.roll);
  lineLost(turn);
  set(turn, { stream: { phase: "closed", failures: stream.failures + 1, wait, missedAt: missedAfter(turn) } });
  if (code === closeCodes.token) tokenRefused(turn, reason || "The stream refused the token.");
}

/** From here on requests go out under another token. What the server says of the one before it must not be taken for this one's. */
export function dropOldToken(turn: Turn): void {
  const { stream } = turn.state;
  lineLost(turn);
  set(turn, { self: undefined, tokenOwner: undefined, renewal: undefined, trouble: undefined });
  ask(turn, { do: "abort" });
  if (stream.phase === "closed") return;
  set(turn, { stream: { ...stream, phase: "closed", missedAt: missedAfter(turn) } });
  ask(turn, { do: "closeStream" });
}

/** How long a line may be gone before it is shown. */
const UNSEEN_MS = 1_000;

const missedAfter = ({ state: { stream }, now }: Turn): number | undefined =>
  stream.phase === "live" ? now + UNSEEN_MS : stream.missedAt;

/** In a page that is not put away after all its timers run on. */
const AWAY_MS = 2_000;

/** Not every browser keeps a page with an open socket, and the socket would be dead when the page is shown again. */
export const wentAway = (turn: Turn): void => set(turn, { awayUntil: turn.now + AWAY_MS });

const isOver = (at: number | undefined, { now }: Turn): boolean => at !== undefined && at <= now;

/** Whoever answers next may be a server that was restored from a backup meanwhile. */
export function lineLost(turn: Turn): void {
  set(turn, { reading: { ...turn.state.reading, verified: false } });
}

/** Something suggests that it would work now: nothing waits for its next turn any longer. */
export function hurry(turn: Turn): void {
  const { sending, reading, stream, auth } = turn.state;
  set(turn, {
    sending: { ...sending, wait: hurried(sending.wait, turn.now) },
    reading: { ...reading, wait: hurried(reading.wait, turn.now) },
    stream: { ...stream, wait: hurried(stream.wait, turn.now) },
    ...(auth.phase === "refused" && { auth: { ...auth, wait: { ...auth.wait, at: turn.now } } }),
  });
}

/** Runs last in every step: asks for everything that may be done now and is not being done. */
export function goOn(turn: Turn): void {
  if (turn.state.life === "starting") return;
  const { stream, awayUntil } = turn.state;
  if (isOver(stream.missedAt, turn)) set(turn, { stream: { ...stream, missedAt: undefined } });
  if (isOver(awayUntil, turn)) set(turn, { awayUntil: undefined });
  if (turn.state.network && !turn.state.paused) askTokenWhenDue(turn);
  keepStream(turn);
  if (!mayGo(turn.state)) return;
  renewWhenDue(turn);
  readOn(turn);
  sendNext(turn);
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
  if (paused || !network) return [lookDueAt(state)];
  return [
    lookDueAt(state),
    stream.missedAt,
    awayUntil,
    auth.phase === "refused" ? auth.wait.at : undefined,
    stream.phase === "live" ? renewal?.at : undefined,
    sockets && mayTalk(auth) && stream.phase === "closed" && rows.position !== undefined ? stream.wait?.at : undefined,
    mayTalk(auth) && reading.under === "nothing" ? reading.wait?.at : undefined,
    mayTalk(auth) && reading.under === "nothing" ? reading.pollAt : undefined,
    mayTalk(auth) && !sending.names && hasToSend(state) ? sending.wait?.at : undefined,
  ];
}

const hasToSend = ({ lead, queue }: ClientState) => lead === "yes" && queue.order.length > queue.waiting.length;

function keepStream(turn: Turn): void {
  const { state } = turn;
  const { stream, rows, reading } = state;
  const own = !isFollower(state) || state.tabs.ownLine;
  const wanted =
    own &&
    state.sockets &&
    state.awayUntil === undefined &&
    mayGo(state) &&
    rows.position !== undefined &&
    reading.resync === "no";
  if (!wanted && stream.phase !== "closed") {
    set(turn, { stream: { ...stream, phase: "closed", missedAt: missedAfter(turn) } });
    lineLost(turn);
    ask(turn, { do: "closeStream" });
  }
  if (wanted && turn.state.stream.phase === "closed" && isDue(stream.wait, turn.now)) {
    set(turn, { stream: { ...turn.state.stream, phase: "opening" } });
    ask(turn, { do: "openStream" });
  }
}

function readOn(turn: Turn): void {
  const { reading, rows, scope, stream, sending, sockets } = turn.state;
  if (reading.under !== "nothing" || !isDue(reading.wait, turn.now)) return;
  const follows = isFollower(turn.state);
  if (rows.position === undefined || reading.resync !== "no") {
    // The tab that leads reads them for all.
    if (follows) return;
    // The queue may be offered again after this: nothing of it may still be on its way.
    if (sending.names && reading.resync === "suspect") return;
    set(turn, { reading: { ...reading, under: "snapshot" } });
    const limit = pageOf(reading.share, limits.snapshotPage);
    return ask(turn, { do: "readSnapshot", cursor: reading.partial?.cursor ?? null, scope, limit });
  }
  const poll = !follows && (!sockets || (stream.phase !== "live" && stream.failures >= POLL_AFTER_FAILURES));
  if (poll && reading.pollAt === undefined && (sockets || reading.verified))
    return set(turn, { reading: { ...reading, pollAt: turn.now + POLL_MS } });
  const due = reading.pollAt !== undefined && reading.pollAt <= turn.now;
  // The socket's welcome would tell as well, but the queue should not wait for a socket that may not be to be had.
  const isUnknown = !reading.verified || turn.state.tokenOwner === undefined;
  const unverified = isUnknown && stream.phase !== "live" && hasToSend(turn.state);
  const first = !follows && !sockets && !reading.verified;
  if (reading.missing === undefined && !(poll && due) && !unverified && !first) return;
  const pollAt = poll ? turn.now + POLL_MS : undefined;
  set(turn, { reading: { ...reading, under: "log", pollAt, askedFor: reading.missing } });
  const limit = pageOf(reading.share, limits.logPageMax);
  ask(turn, { do: "readLog", after: rows.position, scope, limit });
}

/** A server that names the owner of a token takes the name of the log in a write too; an older one refuses what it does not know. */
const saysLogs = ({ tokenOwner }: ClientState): boolean => tokenOwner !== "";

/** One request in flight per client: two could overtake each other. */
function sendNext(turn: Turn): void {
  const { sending, queue, reading, rows } = turn.state;
  if (sending.names || reading.resync === "suspect" || !isDue(sending.wait, turn.now)) return;
  if (!isOwners(turn.state)) return;
  // What is not known yet may have to go before what is.
  if (!knowsQueue(turn.state)) return;
  // A position in a write means nothing in another log: first it is made sure that this is still the same one.
  if (!hasToSend(turn.state) || (!reading.verified && rows.position !== undefined)) return;
  const bulk = nextBulk(turn.state, sending.size);
  if (bulk.length === 0) return;
  const old = bulk.filter((m) => turn.now - m.createdAt > limits.resendMs);
  if (old.length > 0) {
    park(turn, old, localFailure("too_old"));
    return sendNext(turn);
  }
  const names = bulk.map((m) => m.clientTxId);
  const request = sending.request + 1;
  set(turn, {
    queue: changed(
      queue,
      bulk.map((m) => ({ ...m, attempts: m.attempts + 1, stage: { phase: "sending" } })),
    ),
    sending: { ...sending, request, names },
  });
  ask(turn, { do: "send", request, names, body: bulkBody(bulk, saysLogs(turn.state)) });
}
