import { onTokenAccepted } from "../connection/auth.ts";
import { onOwner } from "../connection/owner.ts";
import { onRecordBytes } from "../connection/record-bytes.ts";
import { type Draft, emit, set, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { onServerTime } from "../queue/age.ts";
import { keepLost } from "../queue/seen-in-log.ts";
import { reloadQueue } from "../queue/shared-queue.ts";
import type { ReplicaState } from "../state.ts";
import { isSameScope, reachedScope } from "./parts.ts";
import { withPartsChanged } from "./read-range.ts";
import { compareRows, dropPartial, isOtherLog, noteCovered, readEnded, replaceRows } from "./reading.ts";
import { changeReading } from "./reading-state.ts";
import { rowChanges } from "./row-changes.ts";
import type { PartialSnapshot, RowChange, Rows, Scope } from "./rows.ts";
import { checkScope, isWanted } from "./scope.ts";
import { scopeKey } from "./scope-key.ts";
import { isAnswered, withEarly } from "./stream-parts.ts";
import { changeTables, recordKey } from "./tables.ts";

/*
 * A snapshot is read page by page:
 *
 * nothing ──page──► partial ──page──► … ──last page──► rows
 *
 * A client without rows shows and stores each page when it arrives, and continues there after a reload. A client with
 * rows shows them until the new snapshot is complete. If they lack only parts of the scope, only these are read, and
 * added to the rows.
 */

export function onSnapshotPage(draft: Draft, event: Extract<ClientEvent, { type: "snapshotRead" }>): void {
  readEnded(draft);
  const { logId, rowsVersion, viewHash, stamp, cursor } = event;
  if (!onOwner(draft, event.owner)) return;
  onRecordBytes(draft, event);
  onServerTime(draft, event);
  onTokenAccepted(draft);
  const { scope = {} } = event;
  const { partial, resync, added } = draft.state.reading;
  // The app wants another scope by now, or more parts than were asked for are being read.
  if (!isWanted(draft.state, scope) || (added && !isSameScope(added.scope, scope))) return;
  if (resync !== "parts") noteCovered(draft, event.models);
  // The pages before this one were dropped meanwhile.
  if ((event.begin ?? null) !== (partial?.cursor ?? null)) return;
  // Between two pages the log was replaced, records changed without an entry, or the token's view changed. The pages do
  // not belong together.
  if (partial && !(partial.stamp === stamp && isSameState(partial, { logId, rowsVersion, viewHash })))
    return dropPartial(draft);
  if (resync === "parts" && !continuesRows(draft, event)) return;
  const changes = rowChanges(event.lines);
  const tables = changeTables(partial?.tables ?? {}, changes);
  const isFirstLoad = draft.state.rows.position === undefined;
  const { generation } = draft.state;
  const isKept = isFirstLoad && generation !== undefined && (!partial || partial.isKept);
  const page = { logId, rowsVersion, viewHash, stamp, begin: partial?.cursor, changes, scope, cursor };
  if (isKept) emit(draft, { do: "keepPage", page, generation });
  if (cursor === null && resync === "parts") return changeParts(draft, withEarly(tables, added), scope);
  if (cursor === null) {
    replaceRows(draft, { tables, logId, rowsVersion, viewHash, position: stamp, scope }, { isKept });
    // The snapshot contains writes of other tabs that they have stored but not posted yet, without their names.
    if (draft.state.tabs.listening) reloadQueue(draft);
    changeReading(draft, { verified: true });
    return checkScope(draft);
  }
  changeReading(draft, { partial: { logId, rowsVersion, viewHash, stamp, cursor, tables, scope, isKept } });
  if (!isFirstLoad) return;
  set<ReplicaState>(draft, { rows: { tables, logId: undefined, position: undefined } });
  touch(
    draft,
    changes.map(({ record }) => recordKey(record)),
  );
}

/**
 * Whether a page of missing parts can be added to the rows: it is of their log, and as of their position or later, so
 * that all that it lacks is still to come.
 */
function continuesRows(draft: Draft, event: Extract<ClientEvent, { type: "snapshotRead" }>): boolean {
  const { added } = draft.state.reading;
  // Beside a page, the stream may have gone on.
  const stamp = added ? Math.max(event.stamp, draft.state.rows.position ?? 0) : event.stamp;
  if (event.begin === null && isOtherLog(draft, event.logId, stamp)) return false;
  compareRows(draft, event);
  const { rows, reading } = draft.state;
  const isLater = event.stamp >= (added?.from ?? rows.position ?? 0) && isAnswered(draft.state);
  if (reading.resync === "parts" && isLater) return true;
  dropPartial(draft);
  return false;
}

/** The missing parts have been read. What has changed since the position of the rows, the log will say. */
export function changeParts(draft: Draft, read: Rows["tables"], parts: Scope): void {
  const { rows: before, models, generation, scope, tabs } = draft.state;
  const { logId = "", position = 0, scope: was = {}, viewHash, rowsVersion } = before;
  const reached = reachedScope(was, parts, scope);
  const { rows, changes } = withPartsChanged(before, { read, reached, models });
  changeReading(draft, { verified: true });
  takeParts(draft, rows, changes);
  if (generation === undefined) return;
  emit(draft, { do: "keepRows", logId, was, from: position, to: position, changes, settled: [], generation });
  if (!tabs.listening || changes.length > MOST_POSTED) return;
  const added = { logId, viewHash, rowsVersion, position, was: scopeKey(was), scope: scopeKey(reached), changes };
  emit(draft, { do: "post", message: { type: "parts", ...added } });
}

/** More rows would keep another tab busy; it reads them from disk piece by piece. */
const MOST_POSTED = 5_000;

/** The rows with the new parts, and what has changed in them. */
export function takeParts(draft: Draft, rows: Rows, changes: readonly RowChange[]): void {
  const keys = changes.map(({ record }) => recordKey(record));
  keepLost(draft, rows, keys);
  set<ReplicaState>(draft, { rows });
  changeReading(draft, { resync: "no", partial: undefined, added: undefined });
  touch(draft, keys);
  // Of a record with a write on its way, other parts say whether it is gone, or only loaded no more.
  touch(
    draft,
    [...draft.state.queue.byRecord.entries()].map(([key]) => key),
  );
  checkScope(draft);
}

type StateOfLog = Pick<PartialSnapshot, "logId" | "rowsVersion" | "viewHash">;

const isSameState = (a: StateOfLog, b: StateOfLog): boolean =>
  a.logId === b.logId && a.rowsVersion === b.rowsVersion && a.viewHash === b.viewHash;

/**
 * A page was not stored, because the disk does not contain the pages before it. All rows are stored at the end instead.
 */
export function pageLost(draft: Draft): void {
  const { reading } = draft.state;
  if (reading.partial) changeReading(draft, { partial: { ...reading.partial, isKept: false } });
  else if (draft.state.generation !== undefined && draft.state.rows.position !== undefined)
    emit(draft, { do: "keepSnapshot", settled: [], generation: draft.state.generation, other: false });
}
