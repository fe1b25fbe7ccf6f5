import { tokenWorks } from "../connection/auth.ts";
import { heardOwner } from "../connection/owner.ts";
import { ask, set, type Turn, touch } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { lookAgain } from "../queue/shared-queue.ts";
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

export function hearSnapshot(turn: Turn, event: Extract<ClientEvent, { type: "snapshotRead" }>): void {
  readEnded(turn);
  const { logId, rowsVersion, viewHash, stamp, cursor } = event;
  if (!heardOwner(turn, event.owner, logId)) return;
  tokenWorks(turn);
  noteCovered(turn, event.models);
  const scope = scopeKey(event.scope ?? {});
  // Others are wanted by now.
  if (scope !== scopeKey(turn.state.scope)) return;
  const { partial } = turn.state.reading;
  // What it goes on from is not here any more.
  if ((event.begin ?? null) !== (partial?.cursor ?? null)) return;
  // Between two pages the log was replaced, its records changed, or the token's view did: what was read belongs to nothing.
  if (partial && !(partial.stamp === stamp && isSameState(partial, { logId, rowsVersion, viewHash })))
    return dropPartial(turn);
  const changes = event.lines.map(rowChange);
  const tables = changeTables(partial?.tables ?? {}, changes);
  const isFirstLoad = turn.state.rows.position === undefined;
  const { generation } = turn.state;
  const isKept = isFirstLoad && generation !== undefined && (!partial || partial.isKept);
  const page = { logId, rowsVersion, viewHash, stamp, begin: partial?.cursor, changes, scope, cursor };
  if (isKept) ask(turn, { do: "keepPage", page, generation });
  if (cursor === null) {
    replaceRows(turn, { tables, logId, rowsVersion, viewHash, position: stamp, scope }, { isKept });
    // It holds, without their names, what other tabs have put on disk and not told of yet.
    if (turn.state.tabs.listening) lookAgain(turn);
    return set(turn, { reading: { ...turn.state.reading, verified: true } });
  }
  set(turn, {
    reading: { ...turn.state.reading, partial: { logId, rowsVersion, viewHash, stamp, cursor, tables, scope, isKept } },
  });
  if (!isFirstLoad) return;
  set(turn, { rows: { tables, logId: undefined, position: undefined } });
  touch(
    turn,
    changes.map(({ record }) => recordKey(record)),
  );
}

type StateOfLog = Pick<PartialSnapshot, "logId" | "rowsVersion" | "viewHash">;

const isSameState = (a: StateOfLog, b: StateOfLog): boolean =>
  a.logId === b.logId && a.rowsVersion === b.rowsVersion && a.viewHash === b.viewHash;

/** A page was not kept, because what is on disk is not what it goes on from: in the end all rows are kept at once. */
export function pageLost(turn: Turn): void {
  const { reading } = turn.state;
  if (reading.partial) set(turn, { reading: { ...reading, partial: { ...reading.partial, isKept: false } } });
  else if (turn.state.generation !== undefined && turn.state.rows.position !== undefined)
    ask(turn, { do: "keepSnapshot", settled: [], generation: turn.state.generation, other: false });
}
