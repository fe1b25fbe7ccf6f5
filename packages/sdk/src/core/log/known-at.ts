import { type Draft, emit, set } from "../draft.ts";
import { rowsStatus } from "../select.ts";
import type { ClientState } from "../state.ts";

/**
 * Notes when the rows are known to be all that the server has: when that begins and ends, and when they change. Only
 * the first two are stored for themselves; changes of the rows are stored anyway.
 */
export function noteKnownAt(draft: Draft, before: ClientState): void {
  if (draft.state === before) return;
  const { rows, generation } = draft.state;
  const { logId, position } = rows;
  if (logId === undefined || position === undefined) return;
  const was = rowsStatus(before) === "complete";
  const is = rowsStatus(draft.state) === "complete";
  if (was === is && !(is && position !== before.rows.position)) return;
  set(draft, { rows: { ...rows, at: Math.floor(draft.now) } });
  if (was !== is && generation !== undefined)
    emit(draft, { do: "keepRows", logId, from: position, to: position, changes: [], settled: [], generation });
}
