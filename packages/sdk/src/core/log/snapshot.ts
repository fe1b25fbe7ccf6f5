import { onTokenAccepted } from "../connection/auth.ts";
import { onOwner } from "../connection/owner.ts";
import { type Draft, emit, set, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { reloadQueue } from "../queue/shared-queue.ts";
import { dropPartial, noteCovered, readEnded, replaceRows } from "./reading.ts";
import { rowChanges } from "./row-changes.ts";
import type { PartialSnapshot } from "./rows.ts";
import { scopeKey } from "./scope-key.ts";
import { changeTables, recordKey } from "./tables.ts";

/*
 * A snapshot is read page by page:
 *
 * nothing ──page──► partial ──page──► … ──last page──► rows
 *
 * A client without rows shows and stores each page when it arrives, and continues there after a reload. A client with
 * rows shows them until the new snapshot is complete.
 */

export function onSnapshotPage(draft: Draft, event: Extract<ClientEvent, { type: "snapshotRead" }>): void {
  readEnded(draft);
  const { logId, rowsVersion, viewHash, stamp, cursor } = event;
  if (!onOwner(draft, event.owner)) return;
  onTokenAccepted(draft);
  noteCovered(draft, event.models);
  const scope = scopeKey(event.scope ?? {});
  // The app wants another scope by now.
  if (scope !== scopeKey(draft.state.scope)) return;
  const { partial } = draft.state.reading;
  // The pages before this one were dropped meanwhile.
  if ((event.begin ?? null) !== (partial?.cursor ?? null)) return;
  // Between two pages the log was replaced, records changed without an entry, or the token's view changed. The pages do
  // not belong together.
  if (partial && !(partial.stamp === stamp && isSameState(partial, { logId, rowsVersion, viewHash })))
    return dropPartial(draft);
  const changes = rowChanges(event.lines);
  const tables = changeTables(partial?.tables ?? {}, changes);
  const isFirstLoad = draft.state.rows.position === undefined;
  const { generation } = draft.state;
  const isKept = isFirstLoad && generation !== undefined && (!partial || partial.isKept);
  const page = { logId, rowsVersion, viewHash, stamp, begin: partial?.cursor, changes, scope, cursor };
  if (isKept) emit(draft, { do: "keepPage", page, generation });
  if (cursor === null) {
    replaceRows(draft, { tables, logId, rowsVersion, viewHash, position: stamp, scope }, { isKept });
    // The snapshot contains writes of other tabs that they have stored but not posted yet, without their names.
    if (draft.state.tabs.listening) reloadQueue(draft);
    return set(draft, { reading: { ...draft.state.reading, verified: true } });
  }
  set(draft, {
    reading: {
      ...draft.state.reading,
      partial: { logId, rowsVersion, viewHash, stamp, cursor, tables, scope, isKept },
    },
  });
  if (!isFirstLoad) return;
  set(draft, { rows: { tables, logId: undefined, position: undefined } });
  touch(
    draft,
    changes.map(({ record }) => recordKey(record)),
  );
}

type StateOfLog = Pick<PartialSnapshot, "logId" | "rowsVersion" | "viewHash">;

const isSameState = (a: StateOfLog, b: StateOfLog): boolean =>
  a.logId === b.logId && a.rowsVersion === b.rowsVersion && a.viewHash === b.viewHash;

/**
 * A page was not stored, because the disk does not contain the pages before it. All rows are stored at the end instead.
 */
export function pageLost(draft: Draft): void {
  const { reading } = draft.state;
  if (reading.partial) set(draft, { reading: { ...reading, partial: { ...reading.partial, isKept: false } } });
  else if (draft.state.generation !== undefined && draft.state.rows.position !== undefined)
    emit(draft, { do: "keepSnapshot", settled: [], generation: draft.state.generation, other: false });
}
