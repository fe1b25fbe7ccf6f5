import { writtenFields } from "../../protocol/commits/field-change.ts";
import { jsonEqual } from "../../protocol/json-equal.ts";
import { ownValue } from "../../protocol/own-value.ts";
import { type Draft, emit, keep, set, touch } from "../draft.ts";
import type { Rows } from "../log/rows.ts";
import { lookUp, recordKey } from "../log/tables.ts";
import type { QueueState } from "../state.ts";
import { expectedSlot, type Mutation, type MutationOperation } from "./mutation.ts";
import { nextName } from "./next-name.ts";
import { inOrder } from "./queue.ts";
import { withChanged, withReplaced } from "./queue-changes.ts";
import { serialized } from "./serialized.ts";

/**
 * The log was replaced by another one (a restored backup), so positions of the old log are invalid. Offers every write
 * again that the new log does not contain. If the record still has the values that the user saw, the write gets the
 * current position; otherwise it gets position 0, so that the server detects the difference and reports a conflict.
 */
export function offerAgain(draft: Draft, rows: Rows, which: "all" | "from-other-log"): void {
  const own = new Set<string>();
  const offered: { before: Mutation; after: Mutation }[] = [];
  const stay: Mutation[] = [];
  const leads = draft.state.generation !== undefined;
  for (const write of inOrder(draft.state.queue)) {
    if (write.stage.phase === "confirmed" && write.stage.receipt.logId === rows.logId) continue;
    if (which === "from-other-log" && !isFromOtherLog(write, rows)) continue;
    const operations = write.operations.map((o) => {
      const same = unchanged(o, rows, own);
      for (const field of o.action === "update" ? writtenFields(o) : ["*"]) own.add(`${recordKey(o)} ${field}`);
      return { ...o, readAt: same ? (rows.position ?? 0) : 0 };
    });
    const reads = write.reads.map((r) => ({ ...r, readAt: 0 }));
    const moved = serialized({ ...write, operations, reads, echoed: [] }, draft.state.clientId, rows);
    if (write.stage.phase === "conflicted") stay.push({ ...moved, stage: restated(write.stage, rows) });
    else if (write.stage.phase === "rejected") stay.push(moved);
    // The leader offers the writes of all tabs, and sends the new names to the others.
    else if (!leads) continue;
    // A write that is not on disk yet is offered once it is stored.
    else if (write.seq === undefined) stay.push({ ...write, logId: UNKNOWN });
    // The new log may have a receipt under the old name. A different body must not claim that receipt.
    else
      offered.push({
        before: write,
        after: renamed(moved, nextName(write.clientTxId), draft.state.clientId, rows),
      });
  }
  set<QueueState>(draft, { queue: withChanged(draft.state.queue, stay) });
  for (const { before, after } of offered)
    set<QueueState>(draft, { queue: withReplaced(draft.state.queue, before.clientTxId, after) });
  if (offered.length > 0)
    emit(draft, {
      do: "persist",
      changes: offered.map(({ before, after }) => ({
        put: [{ mutation: after, over: expectedSlot(before) }],
        drop: [],
      })),
    });
  keep(
    draft,
    stay.filter((m) => m.seq !== undefined),
  );
  if (offered.length + stay.length > 0) touch(draft, "everything");
}

/** A log id that no log has. */
const UNKNOWN = "";

/** The positions or the receipt of the write belong to another log than the rows. */
export const isFromOtherLog = ({ logId, stage }: Mutation, rows: Rows): boolean =>
  (logId ?? rows.logId) !== rows.logId ||
  (stage.phase === "confirmed" && (stage.receipt.logId ?? rows.logId) !== rows.logId);

/** Whether the record still has the values that the user saw, ignoring what this client itself has written since. */
function unchanged(o: MutationOperation, rows: Rows, own: ReadonlySet<string>): boolean {
  const key = recordKey(o);
  const data = lookUp(rows.tables, o)?.data;
  if (o.action === "create" || own.has(`${key} *`)) return true;
  if (!data) return false;
  const fields = o.action === "update" ? Object.keys(o.data ?? {}) : Object.keys({ ...o.base, ...data });
  return fields.every(
    (field) => own.has(`${key} ${field}`) || jsonEqual(ownValue(data, field), ownValue(o.base, field)),
  );
}

/** Restates the changes of others with positions of the new log. */
function restated(stage: Extract<Mutation["stage"], { phase: "conflicted" }>, rows: Rows): Mutation["stage"] {
  const notifications = stage.notifications.map((n) => ({
    ...n,
    observedSyncId: rows.position ?? 0,
    currentValues: { ...lookUp(rows.tables, n)?.data },
  }));
  return { ...stage, notifications };
}

const renamed = (m: Mutation, clientTxId: string, clientId: string, rows: Rows): Mutation =>
  serialized({ ...m, clientTxId, attempts: 0, stage: { phase: "saving" } }, clientId, rows);
