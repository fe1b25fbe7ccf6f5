import { type Json, type JsonObject, jsonEqual, ownValue } from "@holdfast/sdk/protocol";
import { recordKey } from "../../../kernel/commits/rules/commit-request.ts";
import type { RecordChange } from "../../../kernel/commits/rules/record-change.ts";
import { splitArchived } from "./archived-column.ts";
import type { AttachedTable } from "./attached-table.ts";
import { faultsOf, isRetyped, missingColumns, missingKey, mistypedValues } from "./broken-table.ts";
import { type CapturedImage, keyOf, readRowImage } from "./row-image.ts";

/** What a trigger captured: the row before and after a statement. An insert has no `before`, a deletion no `after`. */
export interface CapturedChange {
  /** The caller's transaction. */
  readonly tx: string;
  readonly model: string;
  readonly before: CapturedImage | null;
  readonly after: CapturedImage | null;
  /**
   * A trigger of the caller's wrote attached tables in this transaction. Then the changes are in another order than
   * they happened, each has only one image, and `present` is the row of that key as the table had it then.
   */
  readonly nested: boolean;
  readonly present: CapturedImage | null;
}

/** What one transaction did, or a part of it. */
export interface TransactionChanges {
  readonly tx: string;
  readonly changes: readonly RecordChange[];
}

/** A table that is not as it was when it was attached. Its changes cannot be recorded. */
export interface BrokenTable {
  readonly model: string;
  readonly problem: string;
}

/**
 * What transactions changed, in order. A record that one of them changed several times counts once, where it was changed
 * last, with its last state: only the transaction itself saw another one.
 */
export function changesOf(
  captured: readonly CapturedChange[],
  attached: readonly AttachedTable[],
): readonly TransactionChanges[] | BrokenTable {
  const transactions: { readonly tx: string; readonly records: SeenRecords }[] = [];
  for (const change of captured) {
    if (transactions.at(-1)?.tx !== change.tx) transactions.push({ tx: change.tx, records: new Map() });
    const broken = see((transactions.at(-1) as (typeof transactions)[number]).records, change, attached);
    if (broken) return broken;
  }
  return transactions.flatMap(({ tx, records }) => (records.size > 0 ? { tx, changes: changesIn(records) } : []));
}

/** By `recordKey`: the records that a transaction changed, in the order of their last changes. */
export type SeenRecords = Map<string, SeenRecord>;

/** Adds what a captured change says of its records. */
export function see(
  records: SeenRecords,
  change: CapturedChange,
  attached: readonly AttachedTable[],
): BrokenTable | undefined {
  const table = attached.find(({ model }) => model === change.model);
  // Captured before the table was detached.
  if (!table) return undefined;
  const [fault] = table.columns.some(isRetyped) ? faultsOf(table) : [];
  if (fault !== undefined) return { model: table.model, problem: fault };
  for (const sight of sightsOf(change, table)) {
    if ("problem" in sight) return { model: change.model, problem: sight.problem };
    const key = recordKey(sight.model, sight.id);
    const earlier = records.get(key);
    // Deleted first, so that the record comes where it was changed last.
    records.delete(key);
    records.set(key, seenAgain(earlier, sight));
  }
  return undefined;
}

export const changesIn = (records: SeenRecords): readonly RecordChange[] => [...records.values()].map(changeOfRecord);

/** What one captured change says of one record. */
interface Sight {
  readonly model: string;
  readonly id: string;
  /** Null: there was no row. */
  readonly before: Known | null;
  /** Null: there is none after the statement. */
  readonly after: JsonObject | null;
  /** The record's last word so far. */
  readonly left: JsonObject | null;
  readonly unreadable: string | undefined;
  readonly nested: boolean;
}

/** What several changes say of one record, in the memory of a few rows. */
interface SeenRecord {
  readonly first: Sight;
  readonly last: Sight;
  readonly nested: boolean;
  /** How many changes ended a row, and began one. */
  readonly ended: number;
  readonly began: number;
  /** By field: two of the values that it had in nested changes, or all if there were no more. */
  readonly values: ReadonlyMap<string, readonly Json[]>;
  /** A row before one of the changes has values that are not known: it could be the first one. */
  readonly unknown: boolean;
}

/** The values of a row. Undefined: columns of it are gone, or only its key was captured. */
type Known = { readonly data: JsonObject | undefined };

/** An update of the key is of two records. */
function sightsOf(
  { model, before, after, nested, present }: CapturedChange,
  table: AttachedTable,
): readonly (Sight | { readonly problem: string })[] {
  const image = after ?? before;
  const named = image && keyOf(image, table);
  if (named === null || (typeof named === "string" && [...named].length > MOST_KEY)) return [];
  const [old, to, now] = [before, after, present].map((row) => (row === null ? null : readRowImage(row, table)));
  if ([old, to, now].some((image) => image && image.id === undefined)) return [{ problem: missingKey(table) }];
  const missing = [...new Set([to, now].flatMap((image) => image?.missing ?? []))];
  if (missing.length > 0) return [{ problem: missingColumns(table, missing) }];
  const mistyped = [...new Set([to, now].flatMap((image) => image?.mistyped ?? []))];
  if (mistyped.length > 0) return [{ problem: mistypedValues(table.name, mistyped) }];
  const isKnown = old?.missing.length === 0 && old.mistyped.length === 0 && old.unreadable === undefined;
  const from = old ? { data: isKnown ? old.data : undefined } : null;
  const left = to?.data ?? null;
  const unreadable = (nested ? now : to)?.unreadable;
  if (!nested && old && to && old.id !== to.id)
    return [
      { model, id: old.id ?? "", before: from, after: null, left: null, nested, unreadable: undefined },
      { model, id: to.id ?? "", before: null, after: left, left, nested, unreadable },
    ];
  const id = (to ?? old)?.id ?? "";
  return [{ model, id, before: from, after: left, left: nested ? (now?.data ?? null) : left, nested, unreadable }];
}

/** The longest key that the log's indexes take beside a model's name, in characters. */
const MOST_KEY = 512;

function seenAgain(earlier: SeenRecord | undefined, sight: Sight): SeenRecord {
  const nested = sight.nested || earlier?.nested === true;
  const before = earlier && !earlier.nested ? [earlier.first, earlier.last] : [];
  return {
    first: earlier?.first ?? sight,
    last: sight,
    nested,
    ended: (earlier?.ended ?? 0) + (sight.before === null ? 0 : 1),
    began: (earlier?.began ?? 0) + (sight.after === null ? 0 : 1),
    values: nested ? [...before, sight].reduce(withValues, earlier?.values ?? NONE) : NONE,
    unknown: earlier?.unknown === true || (sight.before !== null && sight.before.data === undefined),
  };
}

const NONE: ReadonlyMap<string, readonly Json[]> = new Map();

function withValues(values: SeenRecord["values"], { before, after }: Sight): SeenRecord["values"] {
  const images = [before?.data, after].filter((image) => image != null);
  const seen = new Map(values);
  for (const [field, value] of images.flatMap((image) => Object.entries(image))) {
    const had = seen.get(field) ?? [];
    if (had.length < 2 && !had.some((one) => jsonEqual(one, value))) seen.set(field, [...had, value]);
  }
  return seen;
}

function changeOfRecord({ first, last, nested, began, ended, values, unknown }: SeenRecord): RecordChange {
  const { model, id, left: data, unreadable } = last;
  const named = { model, id, data, ...(unreadable !== undefined && { unreadable }) };
  if (!nested) return withFacts({ ...named, before: first.before === null ? null : first.before.data });
  // Whatever the order, each `before` ended a row and each `after` began one.
  const wasThere = (data === null ? 0 : 1) - began + ended > 0;
  if (!wasThere) return withFacts({ ...named, before: null });
  return withFacts({ ...named, before: unknown ? undefined : mostDifferent(values, data) });
}

/** What the images of the row say: the record's values, and since when it is archived. */
function withFacts({ data, before, ...named }: RecordChange): RecordChange {
  const [to, from] = [data, before].map((image) => image && splitArchived(image));
  return {
    ...{ ...named, data: to ? to.data : null, before: from ? from.data : (before as null | undefined) },
    ...(to?.archivedAt !== undefined && { archivedAt: to.archivedAt }),
    ...(from?.archivedAt !== undefined && { archivedBefore: from.archivedAt }),
  };
}

/**
 * Which of the rows was the first one is not known. So a field counts as changed if it ever had another value than it
 * has in the end.
 */
const mostDifferent = (values: SeenRecord["values"], data: JsonObject | null): JsonObject =>
  Object.fromEntries(
    [...values].map(([field, had]) => {
      const last = (data && ownValue(data, field)) ?? null;
      const [other = last] = had.filter((value) => !jsonEqual(value, last));
      return [field, other];
    }),
  );
