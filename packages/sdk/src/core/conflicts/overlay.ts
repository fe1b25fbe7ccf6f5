import { applyOperation, type Moment, type Row } from "../../protocol/commits/apply.ts";
import { jsonEqual } from "../../protocol/json-equal.ts";
import { participantOf } from "../connection/owner-name.ts";
import { changeTables, lookUp, type RecordChange, type RecordRef, recordKey, refOf, tableOf } from "../log/tables.ts";
import { asksOnly } from "../queue/asks.ts";
import type { Mutation } from "../queue/mutation.ts";
import type { ClientState } from "../state.ts";

/* The view of a record, and how appended writes come into it: also before the runtime is loaded, when nothing is in conflict. */

/** A record as the user should see it: the row with this client's unsettled writes on top. */
export function shownRow(state: Pick<ClientState, "rows" | "overlay">, record: RecordRef): Row | undefined {
  const shown = lookUp(state.overlay, record);
  return shown === undefined ? lookUp(state.rows.tables, record) : (shown ?? undefined);
}

/**
 * Applies appended writes on top of the current view, so that a keystroke costs the same with a long queue on one
 * record as with a short one. Records that were recomputed contain them already.
 */
export function withAppended(state: ClientState, done: ReadonlySet<string>): ClientState {
  const { appended, models } = state;
  if (appended.length === 0) return state;
  const by = participantOf(state);
  const shown = new Map<string, Row | undefined>();
  for (const write of appended) {
    if (asksOnly(write)) continue;
    for (const { action, model, id, data, changes } of write.operations) {
      const key = recordKey({ model, id });
      if (done.has(key)) continue;
      const row = shown.has(key) ? shown.get(key) : shownRow(state, { model, id });
      const step = { action, id, data, changes };
      shown.set(key, applyOperation(row, step, models[tableOf(model)], momentOf(write, by)));
    }
  }
  const changes = [...shown].map(([key, row]): RecordChange<Row | null> => {
    const record = refOf(key);
    const before = shownRow(state, record);
    return { record, value: (row && before && isSameRow(row, before) ? before : row) ?? null };
  });
  const touched = [...done, ...shown.keys()];
  return { ...state, touched, appended: [], overlay: changeTables(state.overlay, changes) };
}

/** Few writes need their date, and formatting dates is the most expensive part of this loop. */
export const momentOf = ({ createdAt }: Mutation, by: string | undefined): Moment => ({
  by,
  get now() {
    return new Date(createdAt).toISOString();
  },
});

export const isSameRow = (a: Row, b: Row) => a.archivedAt === b.archivedAt && jsonEqual(a.data, b.data);
