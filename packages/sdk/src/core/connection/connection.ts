import { closeCodes } from "../../protocol/stream/close-codes.ts";
import { type Draft, emit, set } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { compareRows, isOtherLog, noteCovered } from "../log/reading.ts";
import { onStreamLive, unverify } from "../log/reading-state.ts";
import { beginParts, forgetSubscribed, isReadBeside, nameRest } from "../log/stream-parts.ts";
import { onServerTime } from "../queue/age.ts";
import type { SessionState } from "../state.ts";
import { isFollower } from "../tabs/is-follower.ts";
import { canSend, onTokenAccepted, onTokenRefused } from "./auth.ts";
import { onOwner } from "./owner.ts";
import { onRecordBytes } from "./record-bytes.ts";
import { renewalAfter } from "./renewal.ts";
import { isDue, readPace, waitAfter, waitForRestart } from "./retry.ts";
import { retryNow } from "./retry-now.ts";
import { changeStream } from "./stream-state.ts";
import { noteTrouble } from "./trouble.ts";

/*
 * Decides whether the socket should be open:
 *
 *             ┌───────── closed, failed ◄──────────┐
 *             ▼                                    │
 *          closed ── may send, rows read ──► opening ─welcome─► live
 *             ▲                                                  │
 *             └── paused · no network · rows to be read again ───┘
 *
 * While the socket fails to open, the client polls the log over HTTP instead.
 */

export function onStreamOpened(draft: Draft): void {
  const { rows, scope, stream } = draft.state;
  if (stream.phase !== "opening" || rows.logId === undefined || rows.position === undefined) return;
  const said = beginParts(draft);
  emit(draft, { do: "sendHello", logId: rows.logId, since: rows.position, scope, view: rows.viewHash, ...said });
}

export function onWelcome(draft: Draft, event: Extract<ClientEvent, { type: "welcomed" }>): void {
  const { logId, stamp, participant, session, owner } = event;
  set<SessionState>(draft, { self: { participant, session } });
  if (!onOwner(draft, owner)) return;
  onRecordBytes(draft, event);
  onServerTime(draft, event);
  if (isOtherLog(draft, logId, stamp)) return;
  changeStream(draft, { phase: "live", failures: 0, wait: undefined, missedAt: undefined, upTo: stamp });
  onStreamLive(draft);
  nameRest(draft);
  noteTrouble(draft, undefined);
  onTokenAccepted(draft);
  noteCovered(draft, event.models);
  set<SessionState>(draft, { renewal: renewalAfter(event.expiresInMs, draft) });
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
  if (stream.phase === "live") unverify(draft);
  const missedAt = missedAfter(draft);
  set<SessionState>(draft, { stream: { phase: "closed", failures: stream.failures + 1, wait, missedAt } });
  if (code === closeCodes.token) onTokenRefused(draft, reason || "The stream refused the token.");
}

/** From now on, requests use another token. Responses to the previous token must not be taken for this one's. */
export function dropOldToken(draft: Draft): void {
  set<SessionState>(draft, { self: undefined, tokenOwner: undefined, renewal: undefined, trouble: undefined });
  connectAnew(draft);
}

/** Ends what is under way. The clock may have been set: the server says its time again before anything is sent. */
export function connectAnew(draft: Draft): void {
  const { stream } = draft.state;
  unverify(draft);
  emit(draft, { do: "abort" });
  if (stream.phase === "closed") return;
  changeStream(draft, { phase: "closed", missedAt: missedAfter(draft) });
  emit(draft, { do: "closeStream" });
}

/** How long a connection may be lost before the status shows it. */
const UNSEEN_MS = 1_000;

const missedAfter = ({ state: { stream }, now }: Draft): number | undefined =>
  stream.phase === "live" ? now + UNSEEN_MS : stream.missedAt;

const isOver = (at: number | undefined, { now }: Draft): boolean => at !== undefined && at <= now;

/** Ends the times that are over. */
export function endWaits(draft: Draft): void {
  const { stream, awayUntil } = draft.state;
  if (isOver(stream.missedAt, draft)) changeStream(draft, { missedAt: undefined });
  if (isOver(awayUntil, draft)) set<SessionState>(draft, { awayUntil: undefined });
}

/** Opens the socket, or closes it. */
export function keepStream(draft: Draft): void {
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
    changeStream(draft, { phase: "closed", missedAt: missedAfter(draft) });
    unverify(draft);
    emit(draft, { do: "closeStream" });
  }
  if (wanted && draft.state.stream.phase === "closed" && isDue(stream.wait, draft.now)) {
    changeStream(draft, { phase: "opening" });
    forgetSubscribed(draft);
    emit(draft, { do: "openStream" });
  }
}
