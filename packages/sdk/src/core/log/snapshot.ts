import { onTokenAccepted } from "../connection/auth.ts";
import { onOwner } from "../connection/owner.ts";
import { ask, type Draft, set, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { reloadQueue } from "../queue/shared-queue.ts";
import { dropPartial, noteCovered, readEnded, replaceRows } from "./reading.ts";
import { type PartialSnapshot, rowChange } from "./rows.ts";
import { scopeKey } from "./scope.ts";
import { changeTables, recordKey } from "./tables.ts";

/*
 *  nothing ──page──► partial ──page──► … ──last page──► rows
 *
 * A client without rows shows the pages as they come, and keeps each: after a reload it goes on where it was. One that
 * has rows shows those until the new ones are whole.
 */

export function onSnapshotPage(draft: Draft, event: Extract<ClientEvent, { type: "snapshotRead" }>): void {
  readEnded(draft);
  const { logId, rowsVersion, viewHash, stamp, cursor } = event;
  if (!onOwner(draft, event.owner, logId)) return;
  onTokenAccepted(draft);
  noteCovered(draft, event.models);
  const scope = scopeKey(event.scope ?? {});
  // Others are wanted by now.
  if (scope !== scopeKey(draft.state.scope)) return;
  const { partial } = draft.state.reading;
  // What it goes on from is not here any more.
  if ((event.begin ?? null) !== (partial?.cursor ?? null)) return;
  // Between two pages the log was replaced, its records changed, or the token's view did: what was read belongs to nothing.
  if (partial && !(partial.stamp === stamp && isSameState(partial, { logId, rowsVersion, viewHash })))
    return dropPartial(draft);
  const changes = event.lines.map(rowChange);
  const tables = changeTables(partial?.tables ?? {}, changes);
  const isFirstLoad = draft.state.rows.position === undefined;
  const { generation } = draft.state;
  const isKept = isFirstLoad && generation !== undefined && (!partial || partial.isKept);
  const page = { logId, rowsVersion, viewHash, stamp, begin: partial?.cursor, changes, scope, cursor };
  if (isKept) ask(draft, { do: "keepPage", page, generation });
  if (cursor === null) {
    replaceRows(draft, { tables, logId, rowsVersion, viewHash, position: stamp, scope }, { isKept });
    // It holds, without their names, what other tabs have put on disk and not told of yet.
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

/** A page was not kept, because what is on disk is not what it goes on from: in the end all rows are kept at once. */
export function pageLost(draft: Draft): void {
  const { reading } = draft.state;
  if (reading.partial) set(draft, { reading: { ...reading, partial: { ...reading.partial, isKept: false } } });
  else if (draft.state.generation !== undefined && draft.state.rows.position !== undefined)
    ask(draft, { do: "keepSnapshot", settled: [], generation: draft.state.generation, other: false });
}
