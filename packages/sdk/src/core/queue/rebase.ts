import { ask, type Draft, keep, set, touch } from "../draft.ts";
import { jsonEqual } from "../json-equal.ts";
import type { Rows } from "../log/rows.ts";
import { lookUp, recordKey } from "../log/tables.ts";
import { expectedSlot, type Mutation, type MutationOperation, serialized } from "./mutation.ts";
import { nextName } from "./next-name.ts";
import { inOrder, withChanged, withReplaced } from "./queue.ts";

/**
 * The log was replaced by another one (a restored backup): positions of the old one mean nothing in it. Every write
 * that it does not contain is offered again. Where the record still says what the user saw, the write counts as made
 * now; where it says something else, as made before everything, so that the server finds the difference and holds it.
 */
export function offerAgain(draft: Draft, rows: Rows, which: "all" | "strays"): void {
  const own = new Set<string>();
  const offered: { before: Mutation; after: Mutation }[] = [];
  const stay: Mutation[] = [];
  const leads = draft.state.generation !== undefined;
  for (const write of inOrder(draft.state.queue)) {
    if (write.stage.phase === "confirmed" && write.stage.receipt.logId === rows.logId) continue;
    if (which === "strays" && !isStray(write, rows)) continue;
    const operations = write.operations.map((o) => {
      const same = unchanged(o, rows, own);
      for (const field of o.action === "update" ? Object.keys(o.data ?? {}) : ["*"])
        own.add(`${recordKey(o)} ${field}`);
      return { ...o, readAt: same ? (rows.position ?? 0) : 0 };
    });
    const reads = write.reads.map((r) => ({ ...r, readAt: 0 }));
    const moved = serialized({ ...write, operations, reads, landed: [] }, draft.state.clientId, rows);
    if (write.stage.phase === "held") stay.push({ ...moved, stage: restated(write.stage, rows) });
    else if (write.stage.phase === "parked") stay.push(moved);
    // The tab that leads offers for all, and tells the others under which name.
    else if (!leads) continue;
    // Its turn comes when it is on disk.
    else if (write.seq === undefined) stay.push({ ...write, logId: UNKNOWN });
    // The old name may have an answer in the new log already, which another body must not claim.
    else
      offered.push({
        before: write,
        after: renamed(moved, nextName(write.clientTxId), draft.state.clientId, rows),
      });
  }
  set(draft, { queue: withChanged(draft.state.queue, stay) });
  for (const { before, after } of offered)
    set(draft, { queue: withReplaced(draft.state.queue, before.clientTxId, after) });
  if (offered.length > 0)
    ask(draft, {
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

/** No log has this name. */
const UNKNOWN = "";

/** Its positions, or its receipt, are of another log than the rows. */
export const isStray = ({ logId, stage }: Mutation, rows: Rows): boolean =>
  (logId ?? rows.logId) !== rows.logId ||
  (stage.phase === "confirmed" && (stage.receipt.logId ?? rows.logId) !== rows.logId);

/** Whether the record says what the user saw, leaving out what this client itself wrote since. */
function unchanged(o: MutationOperation, rows: Rows, own: ReadonlySet<string>): boolean {
  const key = recordKey(o);
  const data = lookUp(rows.tables, o)?.data;
  if (o.action === "create" || own.has(`${key} *`)) return true;
  if (!data) return false;
  const fields = o.action === "update" ? Object.keys(o.data ?? {}) : Object.keys({ ...o.base, ...data });
  return fields.every((field) => own.has(`${key} ${field}`) || jsonEqual(data[field], o.base?.[field]));
}

/** What others did is told anew, in the numbers of the new log. */
function restated(stage: Extract<Mutation["stage"], { phase: "held" }>, rows: Rows): Mutation["stage"] {
  const notifications = stage.notifications.map((n) => ({
    ...n,
    observedSyncId: rows.position ?? 0,
    currentValues: { ...lookUp(rows.tables, n)?.data },
  }));
  return { ...stage, notifications };
}

const renamed = (m: Mutation, clientTxId: string, clientId: string, rows: Rows): Mutation =>
  serialized({ ...m, clientTxId, attempts: 0, stage: { phase: "saving" } }, clientId, rows);
