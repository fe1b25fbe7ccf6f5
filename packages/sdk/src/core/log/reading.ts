import { tokenRefused, tokenWorks } from "../connection/auth.ts";
import { heardOwner } from "../connection/owner.ts";
import { readPace, waitAfter } from "../connection/retry.ts";
import { ask, keep, logged, set, type Turn, touch } from "../draft.ts";
import type { ClientEvent, Introduction } from "../events.ts";
import type { Mutation } from "../queue/mutation.ts";
import { type Reply, verdictOf } from "../queue/outcome.ts";
import { changed, find, onRecord } from "../queue/queue.ts";
import { offerAgain } from "../queue/rebase.ts";
import { settle } from "../queue/settle.ts";
import { lookAgain } from "../queue/shared-queue.ts";
import type { Reading } from "../state.ts";
import { noRows, type Rows, readStretch, type Stretch, withSameData } from "./rows.ts";
import { lookUp, recordKey, refOf, tableOf } from "./tables.ts";

type Of<T extends ClientEvent["type"]> = Extract<ClientEvent, { type: T }>;

/** Entries of the log, from the stream or from a read. */
export function hearStretch(turn: Turn, stretch: Stretch): void {
  const { rows, reading } = turn.state;
  const read = readStretch(rows, stretch);
  if (read === "known") return;
  if (read === "gap") {
    const missing = Math.max(reading.missing ?? 0, stretch.to);
    return set(turn, { reading: { ...reading, missing } });
  }
  // What was erased must not be brought back by a person who keeps a write to it.
  const keysOf = (changes: typeof read.changes) => changes.map((change) => recordKey(change.record));
  keepLost(turn, read.rows, keysOf(read.changes.filter(({ erased }) => !erased)));
  forgetLost(turn, keysOf(read.changes.filter(({ erased }) => erased)));
  set(turn, { rows: read.rows });
  touch(
    turn,
    read.changes.map((change) => recordKey(change.record)),
  );
  markLanded(turn, stretch);
  const settled = settle(turn);
  const missing = reading.missing !== undefined && reading.missing > stretch.to ? reading.missing : undefined;
  set(turn, { reading: { ...turn.state.reading, missing } });
  const from = Math.max(stretch.from, rows.position ?? 0);
  const { logId = "", viewHash } = rows;
  const { generation, tabs } = turn.state;
  if (generation === undefined) return;
  ask(turn, { do: "keepRows", logId, from, to: stretch.to, changes: read.changes, settled, generation });
  if (tabs.listening)
    ask(turn, {
      do: "post",
      message: { type: "log", logId, viewHash, from, to: stretch.to, entries: stretch.entries },
    });
}

/** A record is about to go that writes of ours still wait for: a person may want to keep it. */
function keepLost(turn: Turn, next: Rows, keys: readonly string[]): void {
  const { queue, rows } = turn.state;
  const changes = new Map<string, Mutation>();
  for (const key of keys) {
    const record = refOf(key);
    const before = lookUp(rows.tables, record);
    if (!before || lookUp(next.tables, record)) continue;
    for (const write of onRecord(queue, key)) {
      const known = changes.get(write.clientTxId) ?? write;
      changes.set(write.clientTxId, { ...known, lost: { ...known.lost, [key]: before.data } });
    }
  }
  if (changes.size === 0) return;
  set(turn, { queue: changed(queue, [...changes.values()]) });
  keep(turn, [...changes.values()]);
}

/** Records were erased: what was kept of them, because they were deleted before, goes too. */
function forgetLost(turn: Turn, keys: readonly string[]): void {
  const writes = keys.flatMap((key) =>
    [...onRecord(turn.state.queue, key)].flatMap((write) => {
      const { [key]: known, ...lost } = write.lost ?? {};
      return known ? [{ ...write, lost }] : [];
    }),
  );
  if (writes.length === 0) return;
  set(turn, { queue: changed(turn.state.queue, writes) });
  keep(turn, writes);
}

/** Our own entry has come, receipt or not: the row contains the write, and others may have written on top of it. */
function markLanded(turn: Turn, stretch: Stretch): void {
  const landed = new Map<string, Mutation>();
  for (const entry of stretch.entries) {
    const mutation = landed.get(entry.clientTxId) ?? find(turn.state.queue, entry.clientTxId);
    const key = recordKey(entry);
    // Of a write that another tab has not told of yet: when it does, it is in the rows already.
    if (!mutation && entry.clientId === turn.state.clientId) logged(turn, entry.clientTxId);
    if (mutation?.keys.includes(key) && !mutation.landed.includes(key))
      landed.set(entry.clientTxId, { ...mutation, landed: [...mutation.landed, key] });
  }
  set(turn, { queue: changed(turn.state.queue, [...landed.values()]) });
}

/** The log is known to reach that far: what of it was not delivered is asked for. */
export function positionTold(turn: Turn, position: number): void {
  const { rows, reading } = turn.state;
  if (rows.position === undefined || position <= rows.position) return;
  set(turn, { reading: { ...reading, missing: Math.max(reading.missing ?? 0, position) } });
}

export function hearLog(turn: Turn, event: Of<"logRead">): void {
  readEnded(turn);
  if (!heardOwner(turn, event.owner, event.logId)) return;
  tokenWorks(turn);
  if (isOtherLog(turn, event.logId, event.stamp)) return;
  set(turn, { reading: { ...turn.state.reading, verified: true } });
  noteCovered(turn, event.models);
  // Entries that were left out for another view than the rows' would never be missed.
  if (compareRows(turn, event) === "other view") return;
  hearStretch(turn, event);
  const { reading, rows } = turn.state;
  // The answer ends short of the head when there is more than one page of it.
  // And a position that was missing then and lies behind its head is one of a log that is gone.
  const asked = reading.missing === reading.askedFor ? undefined : reading.missing;
  const missing = (rows.position ?? 0) < event.stamp ? event.stamp : asked;
  set(turn, { reading: { ...reading, missing: (rows.position ?? 0) < (missing ?? 0) ? missing : undefined } });
}

/**
 * Other rows stand in for all that were there. What is not of their log is offered again. `isKept`: they are on the disk.
 * `isSameLog`: they are of the same log although they end earlier.
 */
export function replaceRows(turn: Turn, read: Rows, { isKept = false, isSameLog = false } = {}): void {
  const before = turn.state.rows;
  const rows = { ...read, tables: withSameData(read.tables, before.tables) };
  const isOther = before.logId !== rows.logId || (!isSameLog && (rows.position ?? 0) < (before.position ?? 0));
  const other = before.position !== undefined && isOther;
  const elsewhere = turn.state.queue.confirmed.some((name) => confirmedIn(turn, name) !== rows.logId);
  keepLost(
    turn,
    rows,
    [...turn.state.queue.byRecord.entries()].map(([key]) => key),
  );
  set(turn, { rows, reading: { ...turn.state.reading, resync: "no", missing: undefined, partial: undefined } });
  touch(turn, "everything");
  // What another log had this one need not have.
  if (other) set(turn, { tabs: { ...turn.state.tabs, logged: [] } });
  offerAgain(turn, rows, other || elsewhere ? "all" : "strays");
  const { generation } = turn.state;
  const settled = settle(turn);
  if (generation === undefined) return;
  if (!isKept) ask(turn, { do: "keepSnapshot", settled, generation, other });
  else if (settled.length > 0) ask(turn, { do: "forget", settled, generation });
}

/** What was read of a snapshot is of no use any more. */
export function dropPartial(turn: Turn): void {
  const { rows, reading } = turn.state;
  set(turn, { reading: { ...reading, partial: undefined } });
  if (rows.position !== undefined) return;
  set(turn, { rows: noRows });
  touch(turn, "everything");
}

function confirmedIn(turn: Turn, clientTxId: string): string | undefined {
  const stage = find(turn.state.queue, clientTxId)?.stage;
  return stage?.phase === "confirmed" ? (stage.receipt.logId ?? turn.state.rows.logId) : undefined;
}

export function hearReadFailure(turn: Turn, reply: Reply): void {
  const tooLarge = reply.kind === "silence" && (reply.timedOut || reply.cut === true);
  const { share } = turn.state.reading;
  const reading: Reading = { ...turn.state.reading, under: "nothing", share: tooLarge ? smaller(share) : share };
  set(turn, { reading });
  const verdict = verdictOf(reply);
  if (verdict.then === "sign-in") return tokenRefused(turn, verdict.reason);
  const failure = verdict.then === "refused" ? verdict.failure : undefined;
  if (failure && COVERS_NOTHING.has(failure.code)) coversNothing(turn);
  if (failure?.code === "resync_required" && !reading.partial) return resync(turn, "anew");
  // What our rows have read lies beyond its head: it is another log, or a part of ours is gone.
  if (failure?.code === "read_at_in_future") return resync(turn, "suspect");
  // What was read of a snapshot cannot be gone on with: it is read from its beginning.
  if (failure && reading.partial) return dropPartial(turn);
  const reason = verdict.then === "again" ? verdict.reason : (failure?.message ?? "The answer could not be read.");
  const wait = waitAfter(reading.wait, readPace, turn.now, turn.roll, verdict.then === "again" ? verdict.atLeastMs : 0);
  set(turn, { reading: { ...turn.state.reading, wait }, trouble: reason });
}

/** The rows have to be read anew; "suspect": they may be of another log, so nothing may be sent until they were. */
export function resync(turn: Turn, kind: "anew" | "suspect"): void {
  const { reading, lead, storageTrouble, life } = turn.state;
  const follows = lead !== "yes" && storageTrouble === undefined && life === "running";
  // The tab that leads reads them for all, and finds out by itself whether they are of another log.
  if (follows) lookAgain(turn, "all");
  // Until the leader has read them, asking again would end the same way.
  const wait = follows ? waitAfter(reading.wait, readPace, turn.now, turn.roll) : reading.wait;
  if (follows && kind === "suspect") return set(turn, { reading: { ...reading, wait } });
  if (reading.resync !== "suspect") set(turn, { reading: { ...reading, wait, resync: kind } });
}

/** A log with another name, or one whose head lies below what we have read, is not the log that our rows are of. */
export function isOtherLog(turn: Turn, logId: string, stamp: number): boolean {
  const { rows } = turn.state;
  if (rows.position === undefined || (rows.logId === logId && stamp >= rows.position)) return false;
  resync(turn, "suspect");
  return true;
}

/**
 * Whether the rows are still what the token would be shown now. A push that changed records told those who listened, and
 * a change of membership is in no log: a client that was away finds both out here.
 */
export function compareRows(
  turn: Turn,
  { rowsVersion, viewHash }: Pick<Introduction, "rowsVersion" | "viewHash">,
): "same view" | "other view" {
  const { rows } = turn.state;
  if (rows.position === undefined) return "same view";
  const isOtherView = viewHash !== undefined && rows.viewHash !== viewHash;
  if (rows.rowsVersion !== rowsVersion || isOtherView) resync(turn, "anew");
  return isOtherView ? "other view" : "same view";
}

/** A read is refused with these when the token, or the pushed schema, covers none of what was asked for. */
const COVERS_NOTHING: ReadonlySet<string> = new Set(["capability_scope_denied", "unknown_model"]);

/** Nothing of what is wanted may be read any more: what was read before goes, also off the disk. */
function coversNothing(turn: Turn): void {
  const { rows } = turn.state;
  noteCovered(turn, []);
  dropPartial(turn);
  if (rows.position === undefined || isEmpty(rows)) return;
  const { resync: kind } = turn.state.reading;
  replaceRows(turn, { ...rows, tables: {}, viewHash: undefined });
  // As soon as something may be read again, all of it is.
  set(turn, { reading: { ...turn.state.reading, resync: kind } });
}

const isEmpty = ({ tables }: Rows): boolean => Object.values(tables).every((table) => table.size === 0);

/** Notes which of the wanted models the server leaves out. `undefined`: an older server, which refuses instead. */
export function noteCovered(turn: Turn, covered: readonly string[] | undefined): void {
  if (covered === undefined) return;
  const { models, scope, unreadable } = turn.state;
  const there = new Set(covered.map(tableOf));
  const wanted = scope.models ?? Object.keys(models);
  const left = wanted.filter((name) => !there.has(tableOf(name)));
  if (left.length !== unreadable.length || left.some((name, i) => name !== unreadable[i]))
    set(turn, { unreadable: left });
}

/** The smallest share of a page that is asked for: 156 rows of a snapshot, 15 entries of the log. */
const LEAST_SHARE = 1 / 64;

/** A page that did not come whole in its time is asked for as a smaller one; each that comes lets the next one be larger. */
const smaller = (share: number): number => Math.max(LEAST_SHARE, share / 4);
const larger = (share: number): number => Math.min(1, share * 2);

export const pageOf = (share: number, largest: number): number => Math.max(1, Math.floor(largest * share));

export function readEnded(turn: Turn): void {
  const { reading: before } = turn.state;
  const reading: Reading = { ...before, under: "nothing", wait: undefined, share: larger(before.share) };
  set(turn, { reading, trouble: undefined });
}
