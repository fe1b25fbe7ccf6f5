import { jsonEqual } from "./json-equal.ts";
import { type Mutation, type MutationOperation, placesOf, sealed } from "./mutation.ts";
import { changed, find, inOrder, replaced } from "./queue.ts";
import type { Rows } from "./rows.ts";
import { lookUp, recordKey } from "./tables.ts";
import { ask, drop, keep, left, set, type Turn, touch } from "./turn.ts";

/**
 * The log was replaced by another one (a restored backup): positions of the old one mean nothing in it. Every write
 * that it does not contain is offered again. Where the record still says what the user saw, the write counts as made
 * now; where it says something else, as made before everything, so that the server finds the difference and holds it.
 */
export function offerAgain(turn: Turn, rows: Rows, which: "all" | "strays"): void {
  const own = new Set<string>();
  const offered: { before: Mutation; after: Mutation }[] = [];
  const waiting: Mutation[] = [];
  const twins: Mutation[] = [];
  const leads = turn.state.generation !== undefined;
  for (const write of inOrder(turn.state.queue)) {
    if (write.stage.phase === "confirmed" && write.stage.receipt.logId === rows.logId) continue;
    if (which === "strays" && !isStray(write, rows)) continue;
    const operations = write.operations.map((o) => {
      const same = unchanged(o, rows, own);
      for (const field of o.action === "update" ? Object.keys(o.data ?? {}) : ["*"])
        own.add(`${recordKey(o)} ${field}`);
      return { ...o, readAt: same ? (rows.position ?? 0) : 0 };
    });
    const reads = write.reads.map((r) => ({ ...r, readAt: 0 }));
    const moved = sealed({ ...write, operations, reads, landed: [] }, turn.state.clientId, rows);
    if (write.stage.phase === "held") waiting.push({ ...moved, stage: restated(write.stage, rows) });
    else if (write.stage.phase === "parked") waiting.push(moved);
    // The tab that leads offers for all, and tells the others under which name: what they are just putting on disk, too.
    else if (leads) {
      // The old name may have an answer in the new log already, which another body must not claim.
      const clientTxId = nextName(write.clientTxId);
      // Offered before, and the process ended before the old place was free.
      if (find(turn.state.queue, clientTxId)) twins.push(write);
      else offered.push({ before: write, after: renamed(moved, clientTxId, turn.state.clientId, rows) });
    }
  }
  set(turn, { queue: changed(turn.state.queue, waiting) });
  for (const { before, after } of offered) {
    set(turn, { queue: replaced(turn.state.queue, before.clientTxId, after) });
    left(turn, [before.clientTxId]);
    ask(turn, { do: "tell", clientTxId: before.clientTxId, news: { kind: "renamed", to: after.clientTxId } });
  }
  drop(
    turn,
    twins.map((m) => m.clientTxId),
  );
  if (twins.length > 0) ask(turn, { do: "forget", places: placesOf(twins), generation: undefined });
  // One that is just being put on disk under its old name is taken off again when that is reported.
  if (offered.length > 0) ask(turn, { do: "persist", mutations: offered.map((o) => o.after) });
  keep(turn, waiting);
  if (offered.length + waiting.length > 0) touch(turn, "everything");
}

/** Its positions, or its receipt, are of another log than the rows. */
const isStray = ({ logId, stage }: Mutation, rows: Rows): boolean =>
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
  sealed({ ...m, clientTxId, attempts: 0, stage: { phase: "saving" } }, clientId, rows);

/**
 * Names under which a write was put on disk before it went on under another: the tab was killed before it could take
 * them off again.
 */
export function outnamed(mutations: readonly Mutation[]): ReadonlySet<string> {
  const latest = new Map<string, number>();
  for (const { clientTxId } of mutations) {
    const { stem, count } = nameOf(clientTxId);
    latest.set(stem, Math.max(count, latest.get(stem) ?? 0));
  }
  const old = mutations.filter(({ clientTxId }) => {
    const { stem, count } = nameOf(clientTxId);
    return count < (latest.get(stem) ?? 0);
  });
  return new Set(old.map((m) => m.clientTxId));
}

function nameOf(clientTxId: string): { stem: string; count: number } {
  const [, stem = clientTxId, count = "0"] = /^(.*)~(\d+)$/.exec(clientTxId) ?? [];
  return { stem, count: Number(count) };
}

/** `tx` → `tx~1` → `tx~2`: every tab comes to the same name without asking. */
export function nextName(clientTxId: string): string {
  const { stem, count } = nameOf(clientTxId);
  return `${stem}~${count + 1}`;
}
