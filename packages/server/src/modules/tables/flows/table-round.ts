import { lockHeads } from "../../../kernel/commits/db/heads.ts";
import type { FoundRecord } from "../../../kernel/commits/db/records.ts";
import { TenantElsewhere } from "../../../kernel/commits/db/tenant-elsewhere.ts";
import { judgeRound } from "../../../kernel/commits/flows/commit-round.ts";
import type { OwnRoundsOptions, RoundRules, Rounds } from "../../../kernel/commits/flows/in-rounds.ts";
import { commitsOf, type Job, tenantOf } from "../../../kernel/commits/flows/job.ts";
import { type Loaded, load, NO_BOUNDS, type PlacedModels } from "../../../kernel/commits/flows/load-round.ts";
import { type ModuleLoads, openLoads, together, withFound } from "../../../kernel/commits/flows/round-modules.ts";
import { judgedNow } from "../../../kernel/commits/flows/round-outcome.ts";
import type { Drained, RoundResult } from "../../../kernel/commits/flows/round-result.ts";
import { capturedCommit } from "../../../kernel/commits/rules/captured-commit.ts";
import { type CommitRequest, recordKey, rowAction, touched } from "../../../kernel/commits/rules/commit-request.ts";
import type { RecordChange } from "../../../kernel/commits/rules/record-change.ts";
import type { Pipe } from "../../../kernel/connection/pipe.ts";
import { isUnreadable } from "../../../kernel/connection/reading-table.ts";
import {
  begin,
  commit as commitTransaction,
  nothing,
  probe,
  resets,
  rollback,
  rollbackToSavepoint,
  type Statement,
  savepoint,
} from "../../../kernel/connection/statement.ts";
import { UnreadableTable } from "../../../kernel/connection/unreadable-table.ts";
import { loadAttachmentMarks, loadAttachments, markProblem } from "../db/attachments.ts";
import { type CapturedTransactions, loadCapturedTransactions } from "../db/captured-changes.ts";
import { type FoundRow, lockRows, takeOwnChanges, writeRows } from "../db/row-writes.ts";
import { archivedOf } from "../rules/archived-column.ts";
import { isKeyOf } from "../rules/attached-key.ts";
import type { AttachedTable } from "../rules/attached-table.ts";
import { problemOf } from "../rules/broken-table.ts";
import { isReadable } from "../rules/check-attached.ts";
import { orderWrites } from "../rules/row-writes.ts";
import { type Plan, planWrites, settleWrites, writtenByCommit } from "../rules/settle-writes.ts";
import { TABLES, type TenantTables } from "../rules/tenant-tables.ts";
import { asBefore, drainLocked, isRun, linesOf, wholeTransactions, within } from "./drain-changes.ts";
import { relationOfTable } from "./table-relations.ts";

/** What a round of a tenant with attached tables loads. */
type TableLoaded = Loaded & { readonly tables: TenantTables; readonly drained: Drained | undefined };

/** The attached tables of a tenant, as a round found them. */
interface KnownTables {
  readonly attached: readonly AttachedTable[];
  readonly marks: string;
  /** When they were read from the catalog. */
  readonly at: number;
}

/**
 * How long a round takes from the last one what the catalog says of the tables: to read it takes as long as to write some
 * rows. A table can change at any moment, also in the middle of a round. Then what is written fails, or what the table
 * made of it does not fit, and the next round looks again.
 */
const KNOWN_MS = 250;

/**
 * More subtransactions than this in one transaction slow down all of Postgres: each commit that writes tables is one. A
 * single request may have more commits.
 */
export const MOST_WRITTEN = 60;

/** Rounds of tenants with attached tables, each of a single tenant. */
export function tableRounds(options: OwnRoundsOptions): Rounds<TableLoaded> {
  const loads = openLoads(options.rules.modules);
  /** By tenant. */
  const known = new Map<number, KnownTables>();
  return {
    async load(pipe, jobs) {
      const tenant = tenantOf(jobs[0] as Job);
      const found = await loadTableRound(pipe, jobs, loads, known.get(tenant), options).catch((error: unknown) => {
        // It may be another table than the last round found: the next try looks first.
        known.delete(tenant);
        throw isUnreadable(error) ? new UnreadableTable("A table", error) : error;
      });
      if (found.known.attached.length > 0) known.set(tenant, found.known);
      else known.delete(tenant);
      options.runs(tenant, found.known.attached.length > 0);
      return found;
    },
    judge: (pipe, jobs, found) =>
      judgeTableRound(pipe, options.rules, jobs, found, () => known.delete(tenantOf(jobs[0] as Job))),
  };
}

/**
 * Opens a round of one tenant that has attached tables. What the caller's own SQL has changed comes into the log first:
 *
 *   lock the head ─► lock the rows to write ─► record captured changes ─► load
 *                                              a later statement, so it sees all that was committed before the locks
 *
 * So the commits are judged against the rows as they are, and the log has the order of the rows. All of this is sent at
 * once, by the attached tables as they were in the last round; if they are others now, it is done again.
 */
async function loadTableRound(
  pipe: Pipe,
  jobs: readonly Job[],
  loads: ModuleLoads,
  last: KnownTables | undefined,
  { rules, publishDrained }: OwnRoundsOptions,
): Promise<TableLoaded & { readonly known: KnownTables }> {
  const tenant = tenantOf(jobs[0] as Job);
  const commits = commitsOf(jobs);
  const lockAndLoad = async (tables: readonly AttachedTable[]) => {
    const asked = rowsToLock(commits, tables);
    const without = brokenModels(tables);
    const [rows, [first], loaded] = await Promise.all([
      pipe.send(asked.map(({ statement }) => statement)),
      pipe.send([loadCapturedTransactions(tenant, without)]),
      load(pipe, jobs, loads, rules, probe, rowsOf(tables)),
    ]);
    return { asked, rows, without, first, loaded };
  };
  for (let isFresh = last !== undefined && performance.now() < last.at + KNOWN_MS; ; isFresh = false) {
    const [[, , , , [head], marks, read], atOnce] = await Promise.all([
      pipe.send([
        ...resets,
        begin,
        lockHeads([tenant]),
        loadAttachmentMarks(tenant),
        isFresh ? nothing : loadAttachments(tenant),
      ]),
      lockAndLoad(last?.attached ?? []),
    ]);
    if (!head) throw new TenantElsewhere(tenant);
    const isSame = isFresh && last !== undefined && marks === last.marks;
    const attached = isSame ? last.attached : (read ?? (await pipe.send([loadAttachments(tenant)]))[0]);
    const isKnown = isSame || JSON.stringify(attached) === JSON.stringify(last?.attached ?? []);
    const { asked, rows, without, first, loaded } = isKnown ? atOnce : await lockAndLoad(attached);
    const at = isSame ? last.at : performance.now();
    // What could not be read may be another table by now, and what takes no writes may be mended.
    const isOdd =
      loaded.unread.size > 0 || attached.some((table) => !isReadable(table) || problemOf(table) !== undefined);
    const known = { attached, marks, at: isOdd ? Number.NEGATIVE_INFINITY : at };
    const locked = new Set([
      ...asked.flatMap(({ table }, i) =>
        ((rows[i] ?? []) as FoundRow[]).flatMap(({ id, free }) => (free ? [] : recordKey(table.model, id))),
      ),
      ...commits.filter((commit) => namesOneOf(commit, loaded.unread)).flatMap(touched),
    ]);
    const unread = jobs.flatMap(({ ask }) => (ask && loaded.unread.has(ask.model) ? ask.model : []));
    if (unread.length > 0) throw new UnreadableTable(`The table of "${unread[0]}"`, new Error("it is locked"));
    const tables = { attached: new Map(attached.map((table) => [table.model, table])), locked, settle: decided };
    const waiting = await wholeTransactions(pipe, tenant, without, first);
    if (waiting.transactions.length === 0) return { ...loaded, tables, drained: undefined, known };
    const chosen = within(waiting.transactions);
    const drained = await drainLocked(pipe, rules, head, { attached, without }, chosen);
    if ("problem" in drained) {
      await pipe.send([rollback]);
      await pipe.send([markProblem(tenant, drained.model, drained.problem)]);
    } else if (waiting.more || chosen.length < waiting.transactions.length) {
      await pipe.send([commitTransaction]);
      publishDrained(tenant, drained);
    } else return { ...(await load(pipe, jobs, loads, rules, probe, rowsOf(attached))), tables, drained, known };
  }
}

/** Their changes wait until they are mended, and no others do. */
const brokenModels = (attached: Iterable<AttachedTable>): readonly string[] =>
  [...attached].flatMap(({ model, problem }) => (problem === null ? [] : model));

/** Of a table that cannot be read now, nothing is: its writes are refused. */
const rowsOf = (attached: readonly AttachedTable[]): PlacedModels => ({
  relations: new Map(attached.map((table) => [table.model, isReadable(table) ? relationOfTable(table) : undefined])),
  read: "rows",
});

/** A commit that names a record of a table that could not be read waits, as for a row that is locked. */
const namesOneOf = ({ operations, reads }: CommitRequest, models: ReadonlySet<string>): boolean =>
  models.size > 0 && [...operations, ...reads].some(({ model }) => model !== undefined && models.has(model));

const decided: TenantTables["settle"] = (_state, _commit, decision) => decision;

/** The rows that the commits update or delete, by table. */
function rowsToLock(commits: readonly CommitRequest[], attached: readonly AttachedTable[]) {
  const operations = commits.flatMap((commit) => commit.operations);
  return attached.flatMap((table): { table: AttachedTable; statement: Statement<FoundRow[]> }[] => {
    const { model, relation, keyColumn, keyType, columns } = table;
    const writing = archivedOf(columns) ? WRITES_ARCHIVED_ROW : WRITES_ROW;
    const own = operations.filter(
      ({ model: of, action, id }) => of === model && writing.has(rowAction(action)) && isKeyOf(keyType ?? "", id),
    );
    const ids = [...new Set(own.map(({ id }) => id))];
    return keyType === null || ids.length === 0 ? [] : [{ table, statement: lockRows(relation, keyColumn, ids) }];
  });
}

const WRITES_ROW: ReadonlySet<string> = new Set(["update", "delete"]);
/** Where a column says that a record is archived. */
const WRITES_ARCHIVED_ROW: ReadonlySet<string> = new Set([...WRITES_ROW, "archive", "unarchive"]);

/**
 * Judges a round, and writes the rows of its attached tables. A table can refuse a commit, or make something else of it,
 * and that changes what later commits are judged against. So the round is judged twice:
 *
 *   judge ─► write the rows ─► record late changes ─► judge again, by what the tables made of each commit ─► save
 *     ▲                                                │
 *     └───────────── undo the rows ◄───────────────────┘ only if a commit that was written would now be decided otherwise
 *
 * Then the round ends before that commit; a later one judges the rest. Late changes are those that SQL committed while
 * the round waited for its locks: in rows that triggers and foreign keys change, and in tables that were truncated. They
 * came before what the round wrote, so the log has them first.
 */
async function judgeTableRound(
  pipe: Pipe,
  rules: RoundRules,
  jobs: readonly Job[],
  loaded: TableLoaded,
  changed: () => void,
): Promise<RoundResult> {
  const tenant = tenantOf(jobs[0] as Job);
  const order = commitsOf(jobs);
  const judge = async ({ drained, ...found }: TableLoaded, settle: TenantTables["settle"]): Promise<RoundResult> => {
    const modules = withFound(found.modules, TABLES, { ...found.tables, settle } satisfies TenantTables);
    const result = await judgeRound(pipe, rules, jobs, { ...found, modules });
    return { ...result, ...(drained && { drained }) };
  };
  let found = loaded;
  let plan: Plan = { most: Math.min(order.length, MOST_WRITTEN), denied: new Map() };
  for (;;) {
    const planned = await judge(found, planWrites(order, plan));
    const writes = writtenByCommit(judgedOf(jobs, planned), found.tables.attached);
    if (writes.size === 0) return planned;
    const ordered = orderWrites([...writes.values()]);
    const [, { results, changes: made }, captured, late] = await pipe.send([
      savepoint,
      writeRows(tenant, ordered),
      takeOwnChanges(tenant),
      loadCapturedTransactions(tenant, brokenModels(found.tables.attached.values())),
    ]);
    const changes = made.length > 0 ? made : captured;
    const outcome = settleWrites({ order, writes, results, changes, tables: found.tables });
    const isOther = results.some(({ done, sqlstate }) => !done && IS_OTHER.test(sqlstate));
    // One by one everything was written, at once it was not: something acts beyond these rows, and has been added.
    const actsBeyond = ordered.atOnce && results.every(({ done, upTo }) => done && upTo !== null);
    if (outcome.kind === "denied" || isOther || actsBeyond) changed();
    if (outcome.kind === "denied") {
      plan = { ...plan, denied: new Map([...plan.denied, ...outcome.denied]) };
      await pipe.send([rollbackToSavepoint]);
      continue;
    }
    const tables = { ...found.tables, locked: new Set([...found.tables.locked, ...outcome.locked]) };
    found = { ...found, tables };
    const caughtUp = await recordLate(pipe, rules, jobs, found, late);
    if (caughtUp) {
      const settled = await judge(await withChanged(pipe, rules, tenant, caughtUp, outcome.besides), outcome.settle);
      const undone = outcome.undone(judgedOf(jobs, settled));
      if (undone === undefined) return settled;
      if (undone === 0 && late.transactions.length === 0)
        throw new Error("The first commit of a round was decided in two ways.");
      plan = { ...plan, most: undone };
    } else plan = { ...plan, most: 0 };
    await pipe.send([rollbackToSavepoint]);
  }
}

/** A table, column, type or right that is not as the catalog said. */
const IS_OTHER = /^(42|HF003)/;

/**
 * Records what SQL committed until the round had its locks, and loads again. Undefined if it cannot be recorded now: it
 * is too much, or a table is broken, which the next round finds.
 */
async function recordLate(
  pipe: Pipe,
  rules: RoundRules,
  jobs: readonly Job[],
  { tables, heads, drained, ...loaded }: TableLoaded,
  { transactions: late, more }: CapturedTransactions,
): Promise<TableLoaded | undefined> {
  const [head] = heads;
  if (!head || (late.length === 0 && !more)) return { ...loaded, tables, heads, drained };
  // More is left to the next round, which begins with it and holds no rows meanwhile.
  if (more || !isRun(late)) return undefined;
  const attached = [...tables.attached.values()];
  const left = new Map<string, RecordChange>();
  const without = brokenModels(attached);
  const caught = await drainLocked(pipe, rules, head, { attached, without }, late, (change) =>
    left.set(recordKey(change.model, change.id), change),
  );
  if ("problem" in caught) return undefined;
  const again = await load(pipe, jobs, openLoads(rules.modules), rules, probe, linesOf(attached));
  return {
    ...again,
    records: asFound(attached, again.records, loaded.records, left),
    tables,
    drained: {
      from: drained?.from ?? caught.from,
      to: caught.to,
      changed: [...new Set([...caught.changed, ...(drained?.changed ?? [])])],
    },
  };
}

/**
 * The records as they were before the round wrote: the rows have its own writes by now. `left`: what became of those that
 * others have changed since they were read.
 */
function asFound(
  attached: readonly AttachedTable[],
  now: readonly FoundRecord[],
  read: readonly FoundRecord[],
  left: ReadonlyMap<string, RecordChange>,
): readonly FoundRecord[] {
  const models = new Set(attached.map(({ model }) => model));
  const unchanged = read.flatMap((record) => {
    const key = recordKey(record.model, record.id);
    return models.has(record.model) && !left.has(key) ? record : [];
  });
  return [
    ...now.filter(({ model }) => !models.has(model)),
    ...unchanged,
    ...asBefore(
      attached,
      now,
      [...left.values()].flatMap(({ model, id, data, archivedAt }) =>
        data ? { model, id, data, before: data, archivedBefore: archivedAt } : [],
      ),
    ),
  ];
}

const judgedOf = (jobs: readonly Job[], { outcomes }: RoundResult) =>
  jobs.flatMap((job, i) => judgedNow(job, outcomes[i]));

/** With the records that were changed besides, all their values, and the claims on them. */
async function withChanged(
  pipe: Pipe,
  rules: RoundRules,
  tenant: number,
  found: TableLoaded,
  changed: readonly RecordChange[],
): Promise<TableLoaded> {
  if (changed.length === 0) return found;
  const jobs = [{ commits: [capturedCommit(tenant, "", changed)], captured: true }];
  const attached = [...found.tables.attached.values()];
  const more = await load(pipe, jobs, openLoads(rules.modules), { ...rules, ...NO_BOUNDS }, probe, linesOf(attached));
  return {
    ...found,
    records: [...found.records, ...asBefore(attached, more.records, changed)],
    modules: together(found.modules, more.modules),
  };
}
