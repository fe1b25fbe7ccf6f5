import { onTokenAccepted, onTokenRefused } from "../connection/auth.ts";
import { onOwner } from "../connection/owner.ts";
import { onRecordBytes } from "../connection/record-bytes.ts";
import { readPace, waitAfter } from "../connection/retry.ts";
import { noteTrouble } from "../connection/trouble.ts";
import { type Draft, emit, set, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { onServerTime } from "../queue/age.ts";
import { forgetErased, forgetGone, noteErased } from "../queue/erased.ts";
import { lostValues } from "../queue/last-values.ts";
import { offerAgain } from "../queue/offer-again.ts";
import { type Reply, verdictOf } from "../queue/outcome.ts";
import { find, onRecord } from "../queue/queue.ts";
import { forgetLogged, keepLost, markEchoed } from "../queue/seen-in-log.ts";
import { settle } from "../queue/settle.ts";
import { reloadQueue } from "../queue/shared-queue.ts";
import type { ClientState, ReplicaState } from "../state.ts";
import { isFollowed } from "./followed.ts";
import { wideScope } from "./loaded-parts.ts";
import { isSameScope } from "./parts.ts";
import { continues, readRange } from "./read-range.ts";
import { changeReading, lackUpTo } from "./reading-state.ts";
import { withSameData } from "./row-changes.ts";
import { type LogRange, noRows, type Rows } from "./rows.ts";
import { scopeKey } from "./scope-key.ts";
import { ownRange } from "./stream-parts.ts";
import { lookUp, recordKey, refOf, tableOf } from "./tables.ts";

type Of<T extends ClientEvent["type"]> = Extract<ClientEvent, { type: T }>;

/** Handles log entries from the stream or from a read. `isWide`: there may be some that the rows have nothing of. */
export function onLogRange(draft: Draft, received: LogRange, isWide = false): void {
  const { rows } = draft.state;
  const follows = continues(rows, received);
  if (follows === "known") return;
  if (follows === "gap") return lackUpTo(draft, received.to);
  const range = ownRange(draft, received, isWide);
  const read = readRange(rows, range);
  const keysOf = (changes: typeof read.changes) => changes.map((change) => recordKey(change.record));
  const keys = [...keysOf(read.changes), ...(rows.ahead?.keys() ?? [])];
  const erased = noteErased(draft, range);
  // Erased data must not be kept for a person who wants to restore the record.
  keepLost(
    draft,
    read.rows,
    keys.filter((key) => !erased.has(key)),
  );
  set<ReplicaState>(draft, { rows: read.rows });
  touch(draft, keys);
  markEchoed(draft, range);
  const settled = settle(draft);
  const { missing: known } = draft.state.reading;
  const missing = known !== undefined && known > range.to ? known : undefined;
  changeReading(draft, { missing });
  const from = Math.max(range.from, rows.position ?? 0);
  const { logId = "", viewHash, scope } = rows;
  const { generation, tabs } = draft.state;
  if (generation === undefined) return;
  // If the tab dies in between, the rows on disk lead to the erasure again.
  if (erased.size > 0) forgetErased(draft, draft.before ?? draft.state);
  emit(draft, { do: "keepRows", logId, from, to: range.to, changes: read.changes, settled, generation });
  if (tabs.listening)
    emit(draft, {
      do: "post",
      message: { type: "log", logId, viewHash, scope: scopeKey(scope), from, to: range.to, entries: range.entries },
    });
}

/** The log reaches at least this position. Request the entries that were not delivered. */
export function onPosition(draft: Draft, position: number): void {
  const { rows } = draft.state;
  if (rows.position !== undefined && position > rows.position) lackUpTo(draft, position);
}

export function onLogPage(draft: Draft, event: Of<"logRead">): void {
  readEnded(draft);
  if (!onOwner(draft, event.owner)) return;
  onRecordBytes(draft, event);
  onServerTime(draft, event);
  onTokenAccepted(draft);
  if (isOtherLog(draft, event.logId, event.stamp)) return;
  changeReading(draft, { verified: true });
  noteCovered(draft, event.models);
  // If the view differs, entries that were left out would never be requested.
  if (compareRows(draft, event) === "other view") return;
  // The rows were replaced meanwhile by rows of another scope, which lack what only that one has.
  if (!isSameScope(draft.state.rows.scope, event.scope)) return;
  onLogRange(draft, event, wideScope(event.scope) !== event.scope);
  const { reading, rows } = draft.state;
  // The response ends before the head if the log has more than one page left. A missing position that was known before
  // the request and lies beyond the head belongs to a log that was replaced.
  const requested = reading.missing === reading.requested ? undefined : reading.missing;
  const missing = (rows.position ?? 0) < event.stamp ? event.stamp : requested;
  changeReading(draft, { missing: (rows.position ?? 0) < (missing ?? 0) ? missing : undefined });
}

/**
 * Replaces all rows, and offers writes again that do not belong to their log. `isKept`: they are on disk. `isSameLog`:
 * they belong to the same log, even if they end earlier.
 */
export function replaceRows(draft: Draft, read: Rows, { isKept = false, isSameLog = false } = {}): void {
  const before = draft.state.rows;
  // During the first load, the rows shown are those of the pages before.
  const isFirst = before.position === undefined;
  // That these are complete is only known once the stream has said so.
  const rows = isFirst ? read : { ...read, tables: withSameData(read.tables, before.tables), at: before.at };
  const isOther = before.logId !== rows.logId || (!isSameLog && (rows.position ?? 0) < (before.position ?? 0));
  const other = before.position !== undefined && isOther;
  const elsewhere = draft.state.queue.confirmed.some((name) => confirmedIn(draft, name) !== rows.logId);
  const keys = [...draft.state.queue.byRecord.entries()].map(([key]) => key);
  // A record that another log does not have, or that may only be in another part, can be restored. Any other may have
  // been erased meanwhile, or the token may not read it any more. Of rows from disk, the leader knew: what it has kept
  // comes back with the stored writes (`merged`).
  const gone = keys.filter((key) => !lookUp(rows.tables, refOf(key)));
  const left = new Set(other ? gone : gone.filter(mayBeLeft(draft.state, rows)));
  if (other || !isKept) keepLost(draft, rows, [...left]);
  if (!isKept)
    forgetGone(
      draft,
      gone.filter((key) => !left.has(key)),
    );
  set<ReplicaState>(draft, { rows });
  changeReading(draft, { ...READ, missing: undefined });
  touch(draft, "everything");
  // The other log may lack writes that the old log contained.
  if (other) forgetLogged(draft);
  offerAgain(draft, rows, other || elsewhere ? "all" : "from-other-log");
  const { generation } = draft.state;
  const settled = settle(draft);
  if (generation === undefined) return;
  if (!isKept) emit(draft, { do: "keepSnapshot", settled, generation, other });
  else if (settled.length > 0) emit(draft, { do: "forget", settled, generation });
}

const READ = { resync: "no", partial: undefined, added: undefined } as const;

/** Tells whether the rows may lack a record only because it is in none of their parts. */
function mayBeLeft({ rows: before, queue, models }: ClientState, rows: Rows): (key: string) => boolean {
  const { scope, position, viewHash } = rows;
  if (isSameScope(before.scope, scope)) {
    // Nothing has happened since: neither an erasure, nor a change of what the token may read.
    const isSameState = before.position === position && before.viewHash === viewHash;
    return () => isSameState;
  }
  const [was, is] = [before.scope ?? {}, scope ?? {}];
  const isOfSameGroups = JSON.stringify(was.groups) === JSON.stringify(is.groups);
  return (key) => {
    const record = refOf(key);
    const data = lookUp(before.tables, record)?.data ?? lostValues(onRecord(queue, key), key);
    return !data || !isOfSameGroups || !isFollowed(is, models, record, data);
  };
}

/** Discards the pages of an unfinished snapshot. */
export function dropPartial(draft: Draft): void {
  changeReading(draft, { partial: undefined });
  if (draft.state.rows.position !== undefined) return;
  set<ReplicaState>(draft, { rows: noRows });
  touch(draft, "everything");
}

function confirmedIn(draft: Draft, clientTxId: string): string | undefined {
  const stage = find(draft.state.queue, clientTxId)?.stage;
  return stage?.phase === "confirmed" ? (stage.receipt.logId ?? draft.state.rows.logId) : undefined;
}

export function onReadFailed(draft: Draft, reply: Reply): void {
  const tooLarge = reply.kind === "silence" && (reply.timedOut || reply.cut === true);
  const { share } = draft.state.reading;
  changeReading(draft, { under: "nothing", share: tooLarge ? smaller(share) : share });
  const { reading } = draft.state;
  const verdict = verdictOf(reply);
  if (verdict.then === "sign-in") return onTokenRefused(draft, verdict.reason);
  const failure = verdict.then === "refused" ? verdict.failure : undefined;
  if (failure && COVERS_NOTHING.has(failure.code)) {
    // The token may read other models than those of the missing parts.
    if (reading.resync === "parts") return resync(draft, "anew");
    coversNothing(draft);
  }
  if (failure?.code === "resync_required" && !reading.partial) return resync(draft, "anew");
  // The rows have read beyond the server's head: it is another log, or the server has lost the end of this one.
  if (failure?.code === "read_at_in_future") return resync(draft, "suspect");
  // The unfinished snapshot cannot be continued: read it from the beginning.
  if (failure && reading.partial) return dropPartial(draft);
  const reason = verdict.then === "again" ? verdict.reason : (failure?.message ?? "The response could not be parsed.");
  const wait = waitAfter(
    reading.wait,
    readPace,
    draft.now,
    draft.roll,
    verdict.then === "again" ? verdict.atLeastMs : 0,
  );
  changeReading(draft, { wait });
  noteTrouble(draft, reason);
}

/** The rows must be read again. "suspect": they may belong to another log, so nothing is sent until then. */
export function resync(draft: Draft, kind: "anew" | "suspect"): void {
  const { reading, lead, storageTrouble, life } = draft.state;
  const follows = lead !== "yes" && storageTrouble === undefined && life === "running";
  // The leader reads rows for all tabs and detects a replaced log by itself.
  if (follows) reloadQueue(draft, "all");
  // Until the leader has read the rows, another request would fail in the same way.
  const wait = follows ? waitAfter(reading.wait, readPace, draft.now, draft.roll) : reading.wait;
  if (follows && kind === "suspect") return changeReading(draft, { wait });
  if (reading.resync === "suspect") return;
  // What was read of missing parts is no page of all rows.
  const partial = reading.resync === "parts" ? undefined : reading.partial;
  changeReading(draft, { wait, resync: kind, partial, added: undefined });
}

/** The server says that these rows cannot be continued. */
export const onResyncRequested = (draft: Draft, { reason }: Of<"resyncRequested">): void =>
  resync(draft, reason === "other_log" || reason === "ahead" ? "suspect" : "anew");

/** A log with another id, or with a head below the rows' position, is not the log that the rows belong to. */
export function isOtherLog(draft: Draft, logId: string, stamp: number): boolean {
  const { rows } = draft.state;
  if (rows.position === undefined || (rows.logId === logId && stamp >= rows.position)) return false;
  resync(draft, "suspect");
  return true;
}

/**
 * Compares the rows with what the token may see now. A schema push that changed records was announced only to clients
 * that were connected, and a change of membership is in no log: a client that was offline detects both here.
 */
export function compareRows(
  draft: Draft,
  { rowsVersion, viewHash }: { readonly rowsVersion: number | undefined; readonly viewHash: string },
): "same view" | "other view" {
  const { rows } = draft.state;
  if (rows.position === undefined) return "same view";
  const isOtherView = rows.viewHash !== viewHash;
  if (rows.rowsVersion !== rowsVersion || isOtherView) resync(draft, "anew");
  return isOtherView ? "other view" : "same view";
}

/** A read is refused with these codes if the token or the pushed schema covers no requested model. */
const COVERS_NOTHING: ReadonlySet<string> = new Set(["capability_scope_denied", "unknown_model"]);

/** The token may read none of the wanted models any more. Remove the rows, also from disk. */
function coversNothing(draft: Draft): void {
  const { rows } = draft.state;
  noteCovered(draft, []);
  dropPartial(draft);
  if (rows.position === undefined || isEmpty(rows)) return;
  const { resync: kind } = draft.state.reading;
  replaceRows(draft, { ...rows, tables: {}, ahead: undefined, viewHash: undefined });
  // As soon as the token may read something again, read everything.
  changeReading(draft, { resync: kind });
}

const isEmpty = ({ tables }: Rows): boolean => Object.values(tables).every((table) => table.size === 0);

/** Notes which wanted models the server leaves out. */
export function noteCovered(draft: Draft, covered: readonly string[]): void {
  const { models, scope, unreadable } = draft.state;
  const there = new Set(covered.map(tableOf));
  const wanted = scope.models ?? Object.keys(models);
  const left = wanted.filter((name) => !there.has(tableOf(name)));
  if (left.length !== unreadable.length || left.some((name, i) => name !== unreadable[i]))
    set<ReplicaState>(draft, { unreadable: left });
}

/** The smallest share of a page to request: 156 rows of a snapshot, or 15 log entries. */
const LEAST_SHARE = 1 / 64;

/**
 * If a page does not arrive completely in time, the next request is smaller. Each page that arrives makes the next
 * larger.
 */
const smaller = (share: number): number => Math.max(LEAST_SHARE, share / 4);
const larger = (share: number): number => Math.min(1, share * 2);

export const pageOf = (share: number, largest: number): number => Math.max(1, Math.floor(largest * share));

export function readEnded(draft: Draft): void {
  changeReading(draft, { under: "nothing", wait: undefined, share: larger(draft.state.reading.share) });
  noteTrouble(draft, undefined);
}
