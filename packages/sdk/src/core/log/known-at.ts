import { type Draft, emit, set } from "../draft.ts";
import { rowsStatus } from "../select.ts";
import type { ClientState, ReplicaState } from "../state.ts";

/**
 * Notes when the rows are known to be all that the server has: when that begins, and when they change. Not when it ends:
 * a device that has slept notices hours later that its connection is gone. Changes of the rows are stored anyway.
 */
export function noteKnownAt(draft: Draft, before: ClientState): void {
  if (draft.state === before) return;
  const { rows, generation } = draft.state;
  const { logId, position } = rows;
  if (logId === undefined || position === undefined) return;
  const was = rowsStatus(before) === "complete";
  const is = rowsStatus(draft.state) === "complete";
  if (!is || (was && position === before.rows.position)) return;
  set<ReplicaState>(draft, { rows: { ...rows, at: Math.floor(draft.now) } });
  if (!was && generation !== undefined)
    emit(draft, { do: "keepRows", logId, from: position, to: position, changes: [], settled: [], generation });
}
