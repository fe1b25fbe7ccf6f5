import type { JsonObject } from "@holdfast/sdk/protocol";
import { type LockedHead, lockHeads } from "../../../kernel/commits/db/heads.ts";
import { type FoundRecord, withValues } from "../../../kernel/commits/db/records.ts";
import { TenantElsewhere } from "../../../kernel/commits/db/tenant-elsewhere.ts";
import { judgeRound, savings } from "../../../kernel/commits/flows/commit-round.ts";
import type { RoundRules } from "../../../kernel/commits/flows/in-rounds.ts";
import { load, NO_BOUNDS, type PlacedModels } from "../../../kernel/commits/flows/load-round.ts";
import { openLoads } from "../../../kernel/commits/flows/round-modules.ts";
import type { Drained } from "../../../kernel/commits/flows/round-result.ts";
import { capturedCommit, WRITTEN_BY } from "../../../kernel/commits/rules/captured-commit.ts";
import { recordKey } from "../../../kernel/commits/rules/commit-request.ts";
import type { RecordChange } from "../../../kernel/commits/rules/record-change.ts";
import type { Pipe } from "../../../kernel/connection/pipe.ts";
import { begin, commit as commitTransaction, probe, rollback } from "../../../kernel/connection/statement.ts";
import { groupsOf } from "../../../kernel/schema/rules/sync-group.ts";
import { loadAttachments, markProblem } from "../db/attachments.ts";
import {
  analyzeChanges,
  type CapturedTransaction,
  type CapturedTransactions,
  estimateChanges,
  loadCapturedTransactions,
  loadFirstTransaction,
  type StepChange,
  takeCapturedChanges,
  takeChangesOfRow,
  takeStep,
} from "../db/captured-changes.ts";
import type { AttachedTable } from "../rules/attached-table.ts";
import {
  type BrokenTable,
  changesIn,
  changesOf,
  type SeenRecords,
  see,
  type TransactionChanges,
} from "../rules/captured-changes.ts";
import { relationsOfTables } from "./table-relations.ts";

export interface Run extends Drained {
  /** More changes wait. */
  readonly more: boolean;
}

/** Bounds of memory: what is judged at once, and what one transaction of ours takes if the caller's are small. */
const STEP = { most: 200, bytes: 2 ** 21 };
/** So many changes a step looks at. */
const MOST_LOOKS = 5_000;
/** If the planner believes that there are fewer, it may read all of them. */
const FEW = 1_000;
const RUN = { transactions: 1_000, changes: 1_000, bytes: 2 ** 24 };

/**
 * Turns the captured changes of a tenant into log entries: each transaction of the caller's becomes one commit, whole,
 * in the order in which they changed rows. All of it happens in one transaction, under the head's lock:
 *
 *   lock the head ─► which transactions are visible? ─► take some changes ─► load ─► record ─► save ─┐
 *                    a later statement, so it sees        ▲                                          │
 *                    all that committed before the lock   └───────────── until they are all taken ◄──┘ commit
 *
 * Changes of the models in `without` wait: their tables are broken. The commits that they are part of are recorded without
 * them; later they are commits of their own.
 */
export async function drainChanges(
  pipe: Pipe,
  rules: RoundRules,
  tenant: number,
  without: readonly string[] = [],
  isAnalyzed = false,
): Promise<Run | BrokenTable> {
  try {
    const [, [head], first, attached, estimate] = await pipe.send([
      begin,
      lockHeads([tenant]),
      loadCapturedTransactions(tenant, without),
      loadAttachments(tenant),
      estimateChanges,
    ]);
    if (!head) throw new TenantElsewhere(tenant);
    const waiting = await wholeTransactions(pipe, tenant, without, first);
    const chosen = within(waiting.transactions);
    // In a transaction of its own: what it locks, the changes of other tenants need too.
    if (!isAnalyzed && estimate < FEW && !chosen.every(isSmall)) {
      await pipe.send([rollback, analyzeChanges]);
      return await drainChanges(pipe, rules, tenant, without, true);
    }
    const drained = await drainLocked(pipe, rules, head, { attached, without }, chosen);
    if ("problem" in drained) {
      await pipe.send([rollback]);
      await pipe.send([markProblem(tenant, drained.model, drained.problem)]);
      return drained;
    }
    const mended = attached.filter(({ model, problem }) => problem !== null && !without.includes(model));
    await pipe.send([...mended.map(({ model }) => markProblem(tenant, model, null)), commitTransaction]);
    return { ...drained, more: waiting.more || chosen.length < waiting.transactions.length };
  } catch (error) {
    if (pipe.usable) await pipe.send([rollback]).catch(() => {});
    throw error;
  }
}

/** Where so much waits that no transaction is seen whole: the one that comes first. */
export async function wholeTransactions(
  pipe: Pipe,
  tenant: number,
  without: readonly string[],
  found: CapturedTransactions,
): Promise<CapturedTransactions> {
  if (found.transactions.length > 0 || !found.more) return found;
  const [first] = await pipe.send([loadFirstTransaction(tenant, without)]);
  return first;
}

/** The attached tables of a tenant, and the models whose changes wait. */
export interface DrainedTables {
  readonly attached: readonly AttachedTable[];
  readonly without: readonly string[];
}

/**
 * The same in an open transaction that holds the head's lock. It neither commits, nor undoes what a broken table stopped.
 * `recorded`: called with what became of each record.
 */
export async function drainLocked(
  pipe: Pipe,
  rules: RoundRules,
  { tenant, syncId }: Pick<LockedHead, "tenant" | "syncId">,
  tables: DrainedTables,
  transactions: readonly CapturedTransaction[],
  recorded: (change: RecordChange) => void = () => {},
): Promise<Drained | BrokenTable> {
  const { attached } = tables;
  const changed = new Set<string>();
  const loads = openLoads(rules.modules);
  let to = syncId;
  const record = async (transactions: readonly TransactionChanges[]) => {
    const commits = transactions.map(({ tx, changes }) => capturedCommit(tenant, tx, changes));
    const jobs = [{ commits, captured: true }];
    const loaded = await load(pipe, jobs, loads, { ...rules, ...NO_BOUNDS }, probe, linesOf(attached));
    const records = asBefore(
      attached,
      loaded.records,
      transactions.flatMap(({ changes }) => changes),
    );
    const found = { ...loaded, records };
    const result = await judgeRound(pipe, { ...rules, ...NO_BOUNDS }, jobs, found);
    if (result.round.entries.length > 0 || result.ofModules.length > 0) await pipe.send(savings(result));
    for (const { changes } of transactions) changes.forEach(recorded);
    for (const { module } of result.changed) changed.add(module);
    to = result.heads[0]?.syncId ?? to;
  };
  for (const batch of inBatches(transactions))
    for await (const made of stepsOf(pipe, tenant, tables, batch)) {
      if ("problem" in made) return made;
      if (made.length > 0) await record(made);
    }
  return { from: syncId, to, changed: [...changed] };
}

/** Takes the changes of a batch: all at once, or those of a large transaction in steps that end between two rows. */
async function* stepsOf(
  pipe: Pipe,
  tenant: number,
  { attached, without }: DrainedTables,
  batch: readonly CapturedTransaction[],
): AsyncGenerator<readonly TransactionChanges[] | BrokenTable> {
  const [large] = batch.filter((one) => !isSmall(one));
  if (!large) {
    const names = batch.map(({ tx }) => tx);
    const [taken] = await pipe.send([takeCapturedChanges(tenant, names, without)]);
    return yield changesOf(taken, attached);
  }
  const { tx } = large;
  for (let after = 0, looks = STEP.most; ; ) {
    const [step] = await pipe.send([takeStep(tenant, tx, without, { ...STEP, after, looks })]);
    if (step.length === 0) return;
    after = step.at(-1)?.seq ?? after;
    // More, while what it looks at is changed again later; not many more than it takes otherwise.
    looks = Math.min(step.length < looks ? step.length + 1 : 2 * looks, MOST_LOOKS);
    const records: SeenRecords = new Map();
    for (const change of step) {
      const broken = await seeStep(pipe, tenant, { ...change, tx }, records, attached);
      if (broken) return yield broken;
    }
    yield records.size > 0 ? [{ tx, changes: changesIn(records) }] : [];
  }
}

/** All changes of the row, if they say together what became of it: only a few are in memory. */
async function seeStep(
  pipe: Pipe,
  tenant: number,
  change: StepChange & { readonly tx: string },
  records: SeenRecords,
  attached: readonly AttachedTable[],
): Promise<BrokenTable | undefined> {
  if (change.place === "passed") return undefined;
  if (change.place === "last") return see(records, change, attached);
  for (;;) {
    const [taken] = await pipe.send([takeChangesOfRow(tenant, change.tx, change, STEP)]);
    if (taken.length === 0) return undefined;
    for (const one of taken) {
      const broken = see(records, one, attached);
      if (broken) return broken;
    }
  }
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
export const linesOf = (attached: readonly AttachedTable[]): PlacedModels => ({
  relations: relationsOfTables(attached),
  read: "lines",
});

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
