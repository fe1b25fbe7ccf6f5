import { updateWithheld } from "../connection/owner.ts";
import { noteRecordBytes } from "../connection/record-bytes.ts";
import { type Draft, emit } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { isSameScope } from "../log/parts.ts";
import { withAhead, withParts } from "../log/read-range.ts";
import { onLogRange, replaceRows } from "../log/reading.ts";
import { lackUpTo } from "../log/reading-state.ts";
import type { RowChange, Rows } from "../log/rows.ts";
import { checkScope, onScope } from "../log/scope.ts";
import { scopeKey, scopeOf } from "../log/scope-key.ts";
import { takeParts } from "../log/snapshot.ts";
import { settleAll } from "../queue/settle.ts";
import { queueNumbersOf, reconcileQueue, reloadQueue } from "../queue/shared-queue.ts";
import { rowsStatus, statusOf } from "../select.ts";
import type { ClientState } from "../state.ts";
import { isFollower } from "./is-follower.ts";
import type { LeaderConnection, QueueNumbers, TabMessage } from "./tab-message.ts";
import { changeTabs } from "./tabs-state.ts";

/*
 * How a follower takes part in the leader's connection: it receives the log and the state of the connection from the
 * leader, and reads rows that the leader has stored.
 */

type Of<T extends ClientEvent["type"]> = Extract<ClientEvent, { type: T }>;

/** The leader has received a range of the log. */
export function onLeaderLog(draft: Draft, { logId, viewHash, scope, from, to, entries }: Of<"log">): void {
  const { rows } = draft.state;
  if (!isFollower(draft.state) || rows.logId !== logId || rows.position === undefined) return;
  // The leader received other entries than these rows need, which are about to be replaced.
  if (rows.viewHash !== viewHash || scopeKey(rows.scope) !== (scope ?? "")) return lackUpTo(draft, to);
  onLogRange(draft, { from, to, entries });
}

/**
 * The leader has added parts to its rows. A tab with the same rows does it too, and another one reads the disk. So does
 * one that waits for the disk: the answer may be from before, and would take the parts out again.
 */
export function onLeaderParts(draft: Draft, { was, scope, changes, ...added }: Of<"parts">): void {
  const { rows, shared } = draft.state;
  if (shared.reloads > 0) return;
  const isSame = rows.logId === added.logId && rows.position === added.position && scopeKey(rows.scope) === was;
  if (isFollower(draft.state) && isSame && isSameView(rows, added))
    takeParts(draft, withParts(rows, scopeOf(scope), changes), changes);
}

/** The leader has changed rows on disk. `other`: to those of another log, so that the rows here are invalid. */
export function onLeaderRows(draft: Draft, { other, scope }: Of<"rows">): void {
  const { rows, reading } = draft.state;
  // It has heard of the new parts by itself.
  const isThere = scope !== undefined && scopeKey(rows.scope) === scope && reading.resync === "no";
  if (isFollower(draft.state) && !isThere) reloadQueue(draft, other ? "other" : "all");
}

/** The queue and the rows as the disk has them. */
export function takeQueueRead(draft: Draft, { snapshot, rows: which }: Of<"queueRead">): void {
  const { storageTrouble, lead, rows } = draft.state;
  if (storageTrouble !== undefined) return reconcileQueue(draft, { type: "queueRead", snapshot: undefined });
  if (snapshot.rows && (lead !== "yes" || canContinueFrom(rows, snapshot.rows)))
    takeRows(draft, snapshot.rows, which === "other");
  reconcileQueue(draft, { type: "queueRead", snapshot });
  settleAll(draft);
}

/** The leader takes rows from disk only if another tab, which leads by now, has read further in the same log. */
const canContinueFrom = (own: Rows, found: Rows): boolean =>
  own.logId === found.logId && own.position !== undefined && own.position < (found.position ?? 0);

/** Takes rows from disk. If this tab has read the log further than they do, newer rows stay visible. */
export function takeRows(draft: Draft, rows: Rows, other: boolean): void {
  const { rows: before, reading } = draft.state;
  if (rows.position === undefined) return;
  const hasName = before.logId === rows.logId;
  const isSame = hasName && !other;
  const newest = hasName ? Math.max(before.position ?? 0, reading.missing ?? 0) : 0;
  const isGood = isSame && isSameView(before, rows) && isSameScope(before.scope, rows.scope) && reading.resync === "no";
  if (isGood && (before.position ?? -1) >= rows.position) return;
  if (isSame) replaceRows(draft, withAhead(rows, readBeyond(before, rows.position)), { isSameLog: true });
  else replaceRows(draft, rows);
  checkScope(draft);
  // Rows of other parts may be from before the leader added some, which it has said already: it says it again.
  const isBehind = isFollower(draft.state) && draft.state.reading.resync !== "no";
  if (before.logId !== rows.logId || isBehind) post(draft, { type: "joined", ...queueNumbersOf(draft.state) });
  if (newest > rows.position) lackUpTo(draft, newest);
}

type View = Pick<Rows, "viewHash" | "rowsVersion">;
const isSameView = (a: View, b: View): boolean => a.viewHash === b.viewHash && a.rowsVersion === b.rowsVersion;

const readBeyond = ({ tables }: Rows, position: number): readonly RowChange[] =>
  Object.entries(tables).flatMap(([model, table]) =>
    [...table.entries()]
      .filter(([, row]) => row.syncId > position)
      .map(([id, value]) => ({ record: { model, id }, value })),
  );

export function onLeaderConnection(draft: Draft, { connection }: Of<"connection">): void {
  const { tabs } = draft.state;
  // A tab that slept while another one took the lead does not know it yet.
  const isReplaced = (connection.generation ?? Number.POSITIVE_INFINITY) < (tabs.connection?.generation ?? 0);
  if (!isFollower(draft.state) || isReplaced) return;
  changeTabs(draft, { connection });
  if ("recordBytes" in connection) noteRecordBytes(draft, connection.recordBytes);
  updateWithheld(draft);
  reconcileQueue(draft, { type: "numbers", numbers: connection.extent });
  onScope(draft, connection.scope);
  const { rows, reading } = draft.state;
  if (connection.position === undefined) return;
  if (rows.logId !== connection.logId || rows.position === undefined) return reloadQueue(draft, "all");
  // This tab led, and was about to read all rows again, or read the disk just before they were replaced. The leader does
  // not say again that they are there. It may still be reading parts that this tab lacks.
  const mayBeThere =
    reading.resync === "parts" ? !connection.isBehind && !connection.isReading : reading.resync !== "no";
  if (mayBeThere || !isSameView(rows, connection)) reloadQueue(draft, "all");
  if (connection.position > rows.position) lackUpTo(draft, connection.position);
}

/** The leader may have been suspended too. */
export function onWoke(draft: Draft): void {
  if (isFollower(draft.state)) post(draft, { type: "hurry" });
}

/** A tab was opened. The leader sends it the state of the connection, and from then on the log. */
export function onTabJoined(draft: Draft, numbers: QueueNumbers): void {
  reconcileQueue(draft, { type: "numbers", numbers });
  changeTabs(draft, { listening: true });
  if (draft.state.lead === "yes") post(draft, { type: "connection", connection: connectionOf(draft.state) });
}

/** Runs last in each step: sends changes of the leader's connection state to the followers. */
export function shareConnection(draft: Draft, before: ClientState): void {
  const { state } = draft;
  if (state.lead !== "yes" || !state.tabs.listening) return;
  const [now, then] = [connectionOf(state), connectionOf(before)];
  if (
    now.withheld !== then.withheld ||
    now.name !== then.name ||
    now.live !== then.live ||
    now.reason !== then.reason ||
    now.retryAt !== then.retryAt ||
    now.isBehind !== then.isBehind ||
    now.isReading !== then.isReading ||
    now.recordBytes !== then.recordBytes ||
    // Two tabs may have told each other of their scopes at the same time: the leader's is the one.
    !isSameScope(now.scope, then.scope) ||
    before.lead !== "yes"
  )
    post(draft, { type: "connection", connection: now });
}

function connectionOf(state: ClientState): LeaderConnection {
  const { name, live, reason, retryAt } = statusOf(state);
  const {
    rows: { logId, position, viewHash, rowsVersion },
    scope,
    generation,
    recordBytes,
    withheld,
  } = state;
  const shownName = name === "online" || name === "offline" || name === "needs-auth" ? name : "connecting";
  return {
    generation,
    name: shownName,
    live,
    reason,
    retryAt,
    isBehind: rowsStatus(state, "parts") !== "complete",
    isReading: state.reading.resync !== "no",
    logId,
    position,
    viewHash,
    rowsVersion,
    scope,
    extent: queueNumbersOf(state),
    recordBytes,
    withheld,
  };
}

const post = (draft: Draft, message: TabMessage): void => emit(draft, { do: "post", message });
