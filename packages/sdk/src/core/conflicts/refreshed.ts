import { applyOperation, type Row } from "../../protocol/commits/apply.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { jsonEqual } from "../../protocol/json-equal.ts";
import { participantOf } from "../connection/owner-name.ts";
import type { LogRow, RowChange, Rows } from "../log/rows.ts";
import { changeTables, lookUp, type RecordChange, recordKey, refOf, tableOf } from "../log/tables.ts";
import { asksOnly } from "../queue/asks.ts";
import { archivedSince, isHidden } from "../queue/last-values.ts";
import type { Mutation } from "../queue/mutation.ts";
import { onRecord } from "../queue/queue.ts";
import type { ClientState } from "../state.ts";
import { openConflictOn, positionOf, without } from "./conflict.ts";
import { isSameRow, momentOf, shownRow, withAppended } from "./overlay.ts";
import { unfollowedValues } from "./unfollowed.ts";

/** Recomputes only the views of the touched records. */
export function refreshed(state: ClientState, before: ClientState): ClientState {
  const { touched, appended } = state;
  if (touched === "everything") {
    const keys = [...state.queue.byRecord.entries()].map(([key]) => key);
    return refreshKeys({ ...state, overlay: {}, appended: [] }, before, keys);
  }
  if (touched.length + appended.length === 0) return state;
  const whole = refreshKeys(state, before, touched);
  return withAppended(whole, new Set(touched));
}

function refreshKeys(state: ClientState, before: ClientState, keys: readonly string[]): ClientState {
  const overlay: RecordChange<Row | null>[] = [];
  const same: RowChange[] = [];
  // Most rows of a first load are touched while nothing is pending.
  const isPending = state.queue.byRecord.size > 0;
  for (const key of new Set(keys)) {
    const record = refOf(key);
    const row = lookUp(state.rows.tables, record);
    if (isPending && state.queue.byRecord.has(key)) {
      const shown = overlaid(state, key, row, onRecord(state.queue, key));
      const shownBefore = shownRow(before, record);
      overlay.push({
        record,
        value: shown && shownBefore && isSameRow(shown, shownBefore) ? shownBefore : (shown ?? null),
      });
      continue;
    }
    if (lookUp(state.overlay, record) !== undefined) overlay.push({ record, value: undefined });
    // The log confirmed what was shown already: keep the same object, so that views do not render again.
    const shownBefore = row && shownRow(before, record);
    if (row && shownBefore && row.data !== shownBefore.data && jsonEqual(row.data, shownBefore.data))
      same.push({ record, value: { ...row, data: shownBefore.data } });
  }
  const tables = changeTables(state.rows.tables, same);
  return { ...state, overlay: changeTables(state.overlay, overlay), rows: { ...state.rows, tables } };
}

/**
 * Starts with the row and applies each unsettled write in queue order. For a conflicted write, and for writes made
 * before the conflict arrived, the conflicting fields are left out: the user sees theirs, and the conflict contains
 * mine. Later writes were made after seeing theirs, so they are shown. Rejected writes are not shown.
 */
function overlaid(
  state: ClientState,
  key: string,
  row: LogRow | undefined,
  writes: readonly Mutation[],
): Row | undefined {
  const model = state.models[tableOf(refOf(key).model)];
  const by = participantOf(state);
  let shown: Row | undefined = row ?? unfollowedRow(state, key, writes);
  let contested: { fields: readonly string[]; claimed: readonly string[]; upTo: number; isMade: boolean } | undefined;
  // The row contains an echoed write, and also this client's writes before it, whose entries may have arrived in a
  // snapshot, without names. What a person decided about one of those takes its place in the queue, in view of the row.
  const isThere = (write: Mutation) => write.echoed.includes(key) || isReadWith(write, row, state.rows);
  const echoed = writes.map(isThere).lastIndexOf(true);
  const isInRow = (write: Mutation, i: number) =>
    i === echoed || (i < echoed && !(row && write.operations.every(({ readAt = 0 }) => readAt >= row.syncId)));
  for (const [i, write] of writes.entries()) {
    if (write.stage.phase === "rejected" || asksOnly(write) || isInRow(write, i)) continue;
    if (write.stage.phase === "conflicted") {
      const conflict = openConflictOn(state, write, key);
      if (conflict) {
        const { fields, claim, madeUpTo } = conflict;
        const isMade = madeUpTo !== undefined;
        contested = { fields, claimed: claim ? fields : [], upTo: write.stage.conflictedAfter, isMade };
      }
    }
    for (const { action, id, model: name, data, changes } of write.operations) {
      if (recordKey({ model: name, id }) !== key) continue;
      const hidden = contested && (write.stage.phase === "conflicted" || positionOf(write) <= contested.upTo);
      // A record that this client has created anew is mine as a whole.
      if (hidden && (contested?.isMade || (write.stage.phase === "conflicted" && action !== "update"))) continue;
      const { fields, claimed } = (hidden && contested) || { fields: [], claimed: [] };
      const step = { action, id, data: data && without(data, fields), changes: changes && without(changes, claimed) };
      shown = applyOperation(shown, step, model, momentOf(write, by));
    }
  }
  return shown;
}

/**
 * A record whose part is followed no longer, until a write to it is in the log. If one is in conflict, the server has
 * said what others made of the record.
 */
function unfollowedRow(state: ClientState, key: string, writes: readonly Mutation[]): Row | undefined {
  const data = unfollowedValues(state, key, writes);
  if (!data || isHidden(data) || writes.some(({ echoed }) => echoed.includes(key))) return undefined;
  const conflicts = writes.flatMap((write) => openConflictOn(state, write, key) ?? []);
  if (conflicts.some(({ theirs }) => theirs === null)) return undefined;
  return {
    data: Object.assign({}, data, ...conflicts.map(({ theirs }) => theirs)) as JsonObject,
    archivedAt: archivedSince(writes, key),
  };
}

/** Whether the row was read after the write, though the log was not: rows of a part may be ahead of the others. */
function isReadWith({ stage }: Mutation, row: LogRow | undefined, { logId }: Rows): boolean {
  if (stage.phase !== "confirmed" || !row) return false;
  const { receipt } = stage;
  if (receipt.lastSyncId === undefined || (receipt.logId ?? logId) !== logId) return false;
  // The entries of one commit follow each other: at least one for each operation that found its record.
  const entries = (receipt.ops ?? 1) - (receipt.missingIds?.length ?? 0);
  return row.syncId > receipt.lastSyncId - entries;
}
