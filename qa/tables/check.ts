import { isDeepStrictEqual } from "node:util";
import { audit, type Verdict as LogVerdict } from "../support/audit.ts";
import { groupBy } from "../support/group-by.ts";
import type { Violation } from "../support/report.ts";
import type { Entry, Evidence, NotedChange } from "./evidence.ts";
import { judgeReaders } from "./judge-readers.ts";
import { type ComparedChange, type LargeCoverage, largeCoverage } from "./large-coverage.ts";
import { entryState, isUnreadable, markOf, notedState, type RowState } from "./row-state.ts";

/** What the checker can find, and what it means. */
export const VIOLATIONS = {
  log: "a commit lost, doubled, out of its place or split; records that are not the replay of the log",
  waiting: "captured changes that were never collected",
  unequal: "a row that its record does not equal",
  unheard: "a transaction in SQL without its entries in the log",
  torn: "a transaction in SQL whose entries do not stand together, or are not what it changed",
  invented: "entries of a transaction in SQL that never was",
  author: "entries of a transaction in SQL that name another author",
  order: "changes of one row that the log has in another order",
  unreadable: "a row that is too large to be read and was, or was told otherwise than its entry or row says",
  undone: "a value of a write that was refused or undone",
  durable: "a committed transaction in SQL that the database has lost",
} as const;
export type ViolationKind = keyof typeof VIOLATIONS;

export interface Verdict {
  readonly violations: readonly Violation<ViolationKind>[];
  /** The log alone, beside what the writers remember. */
  readonly audited: LogVerdict;
  readonly coverage: {
    readonly rows: number;
    /** Transactions in SQL that changed rows. */
    readonly transactions: number;
    /** Rows that both sides have written. */
    readonly contested: number;
    readonly declined: number;
    /** Entries of commits that name other records: cascades and triggers. */
    readonly besides: number;
    readonly large: LargeCoverage;
  };
}

type Report = (kind: ViolationKind, message: string) => void;

/** Compares tables, records, log and what the writers remember. */
export function check(evidence: Evidence): Verdict {
  const { log, records, rows, noted, waiting, commits } = evidence;
  const violations: Violation<ViolationKind>[] = [];
  const report: Report = (kind, message) => void violations.push({ kind, message });
  const named = new Set(log.map(keyOf));
  // Of a row that was there before, and that no one has changed, the log says nothing.
  const told = records.filter((record) => record.syncId > 0 || named.has(keyOf(record)));
  const audited = audit({ ...evidence, rows: told, calls: commits });
  for (const text of audited.violations) report("log", text);
  if (waiting > 0) report("waiting", `${waiting} captured changes were never collected`);
  judgeRecords(evidence, report);
  const byTransaction = groupBy(
    noted.filter(({ isSql }) => isSql),
    ({ tx }) => tx,
  );
  const whole = judgeTransactions(log, byTransaction, report);
  const compared = judgeOrder(evidence, report);
  for (const text of judgeReaders(evidence)) report("unreadable", text);
  judgeUndone(evidence, report);
  return {
    violations,
    audited,
    coverage: {
      rows: rows.length,
      transactions: byTransaction.size,
      contested: contested(noted),
      declined: commits.filter(({ declined }) => declined !== undefined).length,
      besides: besides(evidence),
      large: largeCoverage(compared, byTransaction, whole),
    },
  };
}

function judgeRecords({ rows, records }: Evidence, report: Report): void {
  const left = new Map(records.map((record) => [keyOf(record), record]));
  for (const row of rows) {
    const key = keyOf(row);
    const record = left.get(key);
    const wanted = isUnreadable(row) ? null : row.data;
    if (!record) report("unequal", `${key} has a row and no record`);
    else if (isUnreadable(row) !== isNumber(record.unreadable))
      report(
        "unreadable",
        `${key} has ${row.bytes} bytes, its record says ${record.unreadable ?? "that it can be read"}`,
      );
    else if (!isDeepStrictEqual(record.data, wanted))
      report("unequal", `${key} is ${JSON.stringify(row.data)}, its record is ${JSON.stringify(record.data)}`);
    left.delete(key);
  }
  for (const key of left.keys()) report("unequal", `${key} has a record and no row`);
}

const isNumber = (value: unknown): boolean => typeof value === "number";

const OF_SQL = /^database_(\d+)$/;

/** Each transaction is one commit with the last state of each row that it changed. Returns those of which that is true. */
function judgeTransactions(
  log: readonly Entry[],
  noted: ReadonlyMap<string, readonly NotedChange[]>,
  report: Report,
): ReadonlySet<string> {
  const whole = new Set(noted.keys());
  const torn = (tx: string, text: string) => {
    whole.delete(tx);
    report("torn", text);
  };
  const heard = groupBy(
    log.filter(({ name }) => OF_SQL.test(name)),
    ({ name }) => OF_SQL.exec(name)?.[1] ?? "",
  );
  for (const [tx, changes] of noted) {
    const entries = heard.get(tx);
    if (!entries) {
      whole.delete(tx);
      report("unheard", `transaction ${tx} changed ${changes.length} rows, and the log has none of it`);
      continue;
    }
    const wanted = new Map(changes.map((change) => [keyOf(change), notedState(change)]));
    const found = new Map(entries.map((entry) => [keyOf(entry), entryState(entry)]));
    for (const key of new Set([...wanted.keys(), ...found.keys()]))
      if (found.get(key) !== wanted.get(key))
        torn(tx, `transaction ${tx} left ${spelled(wanted, key)} of ${key}, and the log has ${spelled(found, key)}`);
    const [first, last] = [entries[0]?.syncId ?? 0, entries.at(-1)?.syncId ?? 0];
    if (last - first !== entries.length - 1)
      torn(tx, `the ${entries.length} entries of transaction ${tx} stand from ${first} to ${last}`);
  }
  for (const [tx, entries] of heard) {
    if (!noted.has(tx))
      report("invented", `the log has ${entries.length} entries of a transaction ${tx} that never was`);
    const other = entries.find(({ actor, kind }) => actor !== "database" || kind !== "system");
    if (other) report("author", `${other.syncId} is of transaction ${tx}, and says ${other.kind}:${other.actor}`);
  }
  return whole;
}

/** A row's changes came into the log in the order in which they were made. Returns each with what the log made of it. */
function judgeOrder({ log, noted, unnoted }: Evidence, report: Report): ComparedChange[] {
  const compared: ComparedChange[] = [];
  const made = groupBy(noted, keyOf);
  const heard = groupBy(log, keyOf);
  for (const key of new Set([...made.keys(), ...heard.keys()])) {
    const entries = lastOfEach(heard.get(key) ?? [], ({ name }) => name);
    const isUnnoted = unnoted.includes(key.slice(0, key.indexOf("/")));
    if (isUnnoted) judgeFound(key, entries, report);
    judgeRefused(key, entries, report);
    const changes = lastOfEach(made.get(key) ?? [], commitOf);
    const wanted = changes.map(notedState);
    const found = entries.filter(({ name }) => !isUnnoted || OF_SQL.test(name)).map(entryState);
    compared.push(...changes.map((change, i) => ({ change, isEqual: found[i] === wanted[i] })));
    const at = wanted.findIndex((mark, i) => found[i] !== mark);
    if (at < 0 && found.length === wanted.length) continue;
    const n = at < 0 ? wanted.length : at;
    report("order", `change ${n + 1} of ${key} left ${stateAt(wanted, n)}, in the log ${stateAt(found, n)}`);
  }
  return compared;
}

const stateAt = (states: readonly RowState[], n: number): string =>
  n < states.length ? (states[n] ?? "no row") : "nothing";

/** A client can delete a record that cannot be read, and nothing else. */
function judgeRefused(key: string, entries: readonly Entry[], report: Report): void {
  for (const [i, { name, verb, syncId }] of entries.entries())
    if (verb !== "deleted" && !OF_SQL.test(name) && typeof entries[i - 1]?.unreadable === "string")
      report("unreadable", `${name} changed ${key} at ${syncId}, which could not be read`);
}

/** Where only SQL notes its changes, each of them has written what it found: the change that is before it in the log. */
function judgeFound(key: string, entries: readonly Entry[], report: Report): void {
  for (const [i, entry] of entries.entries()) {
    if (entry.verb === "deleted" || !OF_SQL.test(entry.name)) continue;
    const before = entries[i - 1];
    const found = (entry.data as { found?: unknown }).found ?? null;
    const wanted = before ? markOf(before) : null;
    if (found !== wanted)
      report(
        "order",
        `${markOf(entry)} of ${key} found ${found ?? "no row"}, the log has ${wanted ?? "none"} before it`,
      );
  }
}

/** A transaction in SQL counts once for a row. A round of the server has many commits, told apart by their values. */
const commitOf = ({ tx, mark, isSql }: NotedChange): string => (isSql ? tx : `${tx} ${mark}`);

function lastOfEach<T>(items: readonly T[], of: (item: T) => string): T[] {
  return items.filter((item, i) => {
    const next = items[i + 1];
    return next === undefined || of(next) !== of(item);
  });
}

function judgeUndone({ log, noted, commits, transactions }: Evidence, report: Report): void {
  const inTables = new Set(noted.map(({ mark }) => mark));
  const inLog = new Set(log.map(markOf));
  const gone = [
    ...commits.filter(({ declined }) => declined !== undefined).map(({ name }) => name),
    ...transactions.filter(({ outcome }) => outcome === "undone").map(({ mark }) => mark),
  ];
  for (const mark of gone) {
    if (inTables.has(mark)) report("undone", `${mark} was refused or undone, and a table has it`);
    if (inLog.has(mark)) report("undone", `${mark} was refused or undone, and the log has it`);
  }
  for (const { mark, outcome, wrote } of transactions)
    if (outcome === "committed" && wrote && !inTables.has(mark))
      report("durable", `${mark} was committed, and no table has it`);
}

const keyOf = ({ model, id }: { readonly model: string; readonly id: string }): string => `${model}/${id}`;

const spelled = (rows: ReadonlyMap<string, RowState>, key: string): string =>
  rows.has(key) ? (rows.get(key) ?? "a deletion") : "nothing";

function contested(noted: readonly NotedChange[]): number {
  const sides = groupBy(noted, keyOf);
  return [...sides.values()].filter((changes) => new Set(changes.map(({ isSql }) => isSql)).size === 2).length;
}

function besides({ log, commits }: Evidence): number {
  const named = new Map(commits.map(({ name, operations }) => [name, new Set(operations.map(keyOf))]));
  return log.filter((entry) => named.get(entry.name)?.has(keyOf(entry)) === false).length;
}
