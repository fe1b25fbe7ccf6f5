import type { JsonObject } from "@holdfast/sdk/protocol";
import { type LockedHead, lockHeads } from "../../db/commits/heads.ts";
import { type FoundRecord, withValues } from "../../db/commits/records.ts";
import { TenantElsewhere } from "../../db/commits/tenant-elsewhere.ts";
import type { Pipe } from "../../db/connection/pipe.ts";
import { begin, commit as commitTransaction, probe, rollback } from "../../db/connection/statement.ts";
import { loadAttachments, markProblem } from "../../db/tables/attachments.ts";
import {
  type CapturedTransaction,
  foldCapturedChanges,
  loadCapturedTransactions,
  type NumberedChange,
  takeCapturedChanges,
} from "../../db/tables/captured-changes.ts";
import { recordKey } from "../../rules/commits/commit-request.ts";
import { groupsOf } from "../../rules/schema/sync-group.ts";
import type { AttachedTable } from "../../rules/tables/attached-table.ts";
import {
  type BrokenTable,
  changesOf,
  type RecordChange,
  startOfLastRow,
  type TransactionChanges,
} from "../../rules/tables/captured-changes.ts";
import { capturedCommit, WRITTEN_BY } from "../../rules/tables/captured-commit.ts";
import { judgeRound, type RoundRules, savings } from "../commits/commit-round.ts";
import { type InTables, load } from "../commits/load-round.ts";
import type { Drained } from "../commits/round-result.ts";
import { tableSources } from "./record-sources.ts";

export interface Run extends Drained {
  /** More changes wait. */
  readonly more: boolean;
}

/** Bounds of memory: what is judged at once, and what one transaction of ours takes if the caller's are small. */
const STEP = { most: 200, bytes: 2 ** 21 };
const RUN = { transactions: 1_000, changes: 1_000, bytes: 2 ** 24 };

/**
 * Turns the captured changes of a tenant into log entries: each transaction of the caller's becomes one commit, whole,
 * in the order in which they changed rows. All of it happens in one transaction, under the head's lock:
 *
 *   lock the head ─► which transactions are visible? ─► take some changes ─► load ─► record ─► save ─┐
 *                    a later statement, so it sees        ▲                                          │
 *                    all that committed before the lock   └───────────── until they are all taken ◄──┘ commit
 */
export async function drainChanges(pipe: Pipe, rules: RoundRules, tenant: number): Promise<Run | "broken"> {
  try {
    const [, [head], waiting, attached] = await pipe.send([
      begin,
      lockHeads([tenant]),
      loadCapturedTransactions(tenant),
      loadAttachments(tenant),
    ]);
    if (!head) throw new TenantElsewhere(tenant);
    const chosen = within(waiting);
    const drained = await drainLocked(pipe, rules, head, attached, chosen);
    if ("problem" in drained) return await markBroken(pipe, tenant, drained);
    const mended = attached.filter(({ problem }) => problem !== null);
    await pipe.send([...mended.map(({ model }) => markProblem(tenant, model, null)), commitTransaction]);
    return { ...drained, more: chosen.length < waiting.length };
  } catch (error) {
    if (pipe.usable) await pipe.send([rollback]).catch(() => {});
    throw error;
  }
}

/**
 * The same in an open transaction that holds the head's lock. It neither commits, nor undoes what a broken table stopped.
 * `recorded`: called with what became of each record.
 */
export async function drainLocked(
  pipe: Pipe,
  rules: RoundRules,
  { tenant, syncId }: Pick<LockedHead, "tenant" | "syncId">,
  attached: readonly AttachedTable[],
  transactions: readonly CapturedTransaction[],
  recorded: (change: RecordChange) => void = () => {},
): Promise<Drained | BrokenTable> {
  let claimsChanged = false;
  let to = syncId;
  const record = async (transactions: readonly TransactionChanges[]) => {
    const commits = transactions.map(({ tx, changes }) => capturedCommit(tenant, tx, changes));
    const jobs = [{ commits, captured: true }];
    const loaded = await load(pipe, jobs, new Set(), { ...rules, ...NO_BOUNDS }, probe, linesOf(attached));
    const records = asBefore(
      attached,
      loaded.records,
      transactions.flatMap(({ changes }) => changes),
    );
    const found = { ...loaded, records };
    const result = await judgeRound(pipe, { ...rules, ...NO_BOUNDS }, jobs, found);
    if (result.round.entries.length > 0 || result.claims.length > 0) await pipe.send(savings(result));
    for (const { changes } of transactions) changes.forEach(recorded);
    claimsChanged ||= result.claimTenants.length > 0;
    to = result.heads[0]?.syncId ?? to;
  };
  for (const batch of inBatches(transactions))
    for await (const changes of stepsOf(pipe, tenant, attached, batch)) {
      const made = changesOf(changes, attached);
      if ("problem" in made) return made;
      if (made.length > 0) await record(made);
    }
  return { from: syncId, to, claimsChanged };
}

/** Takes the changes of a batch: all at once, or in steps that end between two rows. */
async function* stepsOf(
  pipe: Pipe,
  tenant: number,
  attached: readonly AttachedTable[],
  batch: readonly CapturedTransaction[],
): AsyncGenerator<readonly NumberedChange[]> {
  const names = batch.map(({ tx }) => tx);
  const take = async (most: number, after: number) => {
    const [taken] = await pipe.send([takeCapturedChanges(tenant, names, { most, bytes: STEP.bytes, after })]);
    return taken;
  };
  const [large] = batch.filter((one) => !isSmall(one));
  if (!large) return yield await take(STEP.most, 0);
  await pipe.send([foldCapturedChanges(tenant, large.tx)]);
  let kept: readonly NumberedChange[] = [];
  for (let most = STEP.most, after = 0; ; ) {
    const taken = await take(most, after);
    if (taken.length === 0) break;
    after = taken.at(-1)?.seq ?? after;
    // The size of each that may be taken has to be looked at.
    most = Math.min(STEP.most, 2 * taken.length + 1);
    const all = [...kept, ...taken];
    const end = startOfLastRow(all, attached);
    kept = all.slice(end);
    if (end > 0) yield all.slice(0, end);
  }
  if (kept.length > 0) yield kept;
}

const isSmall = ({ changes, bytes }: Sized): boolean => changes <= STEP.most && bytes <= STEP.bytes;

type Sized = Omit<CapturedTransaction, "tx">;

const sumOf = (a: Sized, b: Sized): Sized => ({ changes: a.changes + b.changes, bytes: a.bytes + b.bytes });

/** The records as they were before their first change: what the log said last, with the values of the rows. */
export function asBefore(
  attached: readonly AttachedTable[],
  lines: readonly FoundRecord[],
  changes: readonly RecordChange[],
): readonly FoundRecord[] {
  const first = new Map<string, RecordChange>();
  for (const change of changes) {
    const key = recordKey(change.model, change.id);
    if (!first.has(key)) first.set(key, change);
  }
  const known = new Map(lines.map((line) => [recordKey(line.model, line.id), line]));
  return [...first].flatMap(([key, { model, id, before, archivedBefore }]) => {
    const table = attached.find((one) => one.model === model);
    const line = known.get(key);
    // What the log has counts as there. Without its values, every field counts as changed.
    if (line) {
      const record = withValues(line, { id, ...before });
      // The column has not always said whether it is archived.
      const isOlder = table && line.syncId <= table.attachedSyncId && archivedBefore !== undefined;
      return isOlder ? { ...record, archivedAt: archivedBefore } : record;
    }
    return table && before !== null ? recordAtStart(table, id, { id, ...before }, archivedBefore ?? null) : [];
  });
}

/** A record that was there when its table was attached, and that the log has not named since. */
const recordAtStart = (
  { tenant, model, attachedSyncId, attachedAt, groupRules }: AttachedTable,
  id: string,
  data: JsonObject,
  archivedAt: string | null,
): FoundRecord => ({
  ...{ tenant, model, id, data, groups: groupsOf({ groups: groupRules }, data), archivedAt },
  ...{ syncId: attachedSyncId, createdSyncId: attachedSyncId },
  ...{ createdAt: attachedAt, createdBy: WRITTEN_BY, updatedAt: attachedAt, updatedBy: WRITTEN_BY },
});

/** What a change captured has its values itself. */
export const linesOf = (attached: readonly AttachedTable[]): InTables => ({
  sources: tableSources(attached),
  read: "lines",
});

/** A step is small already, and what has happened cannot be refused for its size. */
export const NO_BOUNDS = { commitBytes: Number.MAX_SAFE_INTEGER, roundBytes: Number.MAX_SAFE_INTEGER };

/** Whether one transaction of ours may take so much. */
export function isRun(transactions: readonly Sized[]): boolean {
  const { changes, bytes } = transactions.reduce(sumOf, { changes: 0, bytes: 0 });
  return transactions.length <= RUN.transactions && changes <= RUN.changes && bytes <= RUN.bytes;
}

/** The first transactions that it may take; at least one. */
export function within<T extends Sized>(transactions: readonly T[]): readonly T[] {
  let sum: Sized = { changes: 0, bytes: 0 };
  const end = transactions.findIndex((one, i) => {
    sum = sumOf(sum, one);
    return i > 0 && (i >= RUN.transactions || sum.changes > RUN.changes || sum.bytes > RUN.bytes);
  });
  return end < 0 ? transactions : transactions.slice(0, end);
}

/** Transactions that fit into one step are taken together, a larger one alone. */
function inBatches(transactions: readonly CapturedTransaction[]): CapturedTransaction[][] {
  const batches: CapturedTransaction[][] = [];
  let sum: Sized | undefined;
  for (const one of transactions) {
    const more: Sized = sum ? sumOf(sum, one) : one;
    if (sum && isSmall(more)) batches.at(-1)?.push(one);
    else batches.push([one]);
    sum = sum && isSmall(more) ? more : one;
  }
  return batches;
}

/** Undoes the run, so that the changes stay captured, and says what is wrong. */
async function markBroken(pipe: Pipe, tenant: number, { model, problem }: BrokenTable): Promise<"broken"> {
  await pipe.send([rollback]);
  await pipe.send([markProblem(tenant, model, problem)]);
  return "broken";
}
