import { type Json, type JsonObject, jsonEqual, ownValue } from "@holdfast/sdk/protocol";
import { recordKey } from "../commits/commit-request.ts";
import { splitArchived } from "./archived-column.ts";
import type { AttachedTable } from "./attached-table.ts";
import { faultsOf, isRetyped, missingColumns, missingKey, mistypedValues } from "./broken-table.ts";
import { type ParsedRow, readRowImage } from "./row-image.ts";

/** What a trigger captured: the row before and after a statement. An insert has no `before`, a deletion no `after`. */
export interface CapturedChange {
  /** The caller's transaction. */
  readonly tx: string;
  readonly model: string;
  readonly before: ParsedRow | null;
  readonly after: ParsedRow | null;
  /**
   * A trigger of the caller's wrote attached tables in this transaction. Then the changes are in another order than
   * they happened, each has only one image, and `present` is the row of that key as the table had it then.
   */
  readonly nested: boolean;
  readonly present: ParsedRow | null;
}

/** A change of one record. */
export interface RecordChange {
  readonly model: string;
  readonly id: string;
  /** Null: it is gone. */
  readonly data: JsonObject | null;
  /** Null: it was not there. Undefined: not known. */
  readonly before?: JsonObject | null | undefined;
  /** Since when the row says that it is archived, and said so before. Undefined: it says nothing of it. */
  readonly archivedAt?: string | null | undefined;
  readonly archivedBefore?: string | null | undefined;
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
  const byModel = new Map(attached.map((table) => [table.model, table]));
  const transactions: { readonly tx: string; readonly records: Map<string, Sight[]> }[] = [];
  for (const change of captured) {
    const table = byModel.get(change.model);
    // Captured before the table was detached.
    if (!table) continue;
    const [fault] = table.columns.some(isRetyped) ? faultsOf(table) : [];
    if (fault !== undefined) return { model: table.model, problem: fault };
    if (transactions.at(-1)?.tx !== change.tx) transactions.push({ tx: change.tx, records: new Map() });
    const { records } = transactions.at(-1) as (typeof transactions)[number];
    for (const sight of sightsOf(change, table)) {
      if ("problem" in sight) return { model: change.model, problem: sight.problem };
      const key = recordKey(sight.model, sight.id);
      const earlier = records.get(key) ?? [];
      // Deleted first, so that the record comes where it was changed last.
      records.delete(key);
      records.set(key, [...earlier, sight]);
    }
  }
  return transactions.map(({ tx, records }) => ({ tx, changes: [...records.values()].map(changeOfRecord) }));
}

/** Where the changes of the last change's row begin, which stand together. */
export function startOfLastRow(captured: readonly CapturedChange[], attached: readonly AttachedTable[]): number {
  const rowOf = ({ model, before, after }: CapturedChange): string => {
    const table = attached.find((one) => one.model === model);
    const key = table && ownValue((after ?? before) as ParsedRow, table.keyColumn);
    return recordKey(model, JSON.stringify(typeof key === "function" ? key() : (key ?? null)));
  };
  const last = captured.at(-1);
  if (!last) return 0;
  const row = rowOf(last);
  let start = captured.length - 1;
  while (start > 0 && rowOf(captured[start - 1] as CapturedChange) === row) start -= 1;
  return start;
}

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
  readonly nested: boolean;
}

/** The values of a row. Undefined: columns of it are gone, or only its key was captured. */
type Known = { readonly data: JsonObject | undefined };

/** An update of the key is of two records. */
function sightsOf(
  { model, before, after, nested, present }: CapturedChange,
  table: AttachedTable,
): readonly (Sight | { readonly problem: string })[] {
  const image = after ?? before;
  if (image && isNoRecord(image, table)) return [];
  const [old, to, now] = [before, after, present].map((row) => (row === null ? null : readRowImage(row, table)));
  if ([old, to, now].some((image) => image && image.id === undefined)) return [{ problem: missingKey(table) }];
  const missing = [...new Set([to, now].flatMap((image) => image?.missing ?? []))];
  if (missing.length > 0) return [{ problem: missingColumns(table, missing) }];
  const mistyped = [...new Set([to, now].flatMap((image) => image?.mistyped ?? []))];
  if (mistyped.length > 0) return [{ problem: mistypedValues(table.name, mistyped) }];
  const from = old ? { data: old.missing.length + old.mistyped.length > 0 ? undefined : old.data } : null;
  const left = to?.data ?? null;
  if (!nested && old && to && old.id !== to.id)
    return [
      { model, id: old.id ?? "", before: from, after: null, left: null, nested },
      { model, id: to.id ?? "", before: null, after: left, left, nested },
    ];
  const id = (to ?? old)?.id ?? "";
  return [{ model, id, before: from, after: left, left: nested ? (now?.data ?? null) : left, nested }];
}

/** A row that no id can name. */
function isNoRecord(row: ParsedRow, { keyColumn }: AttachedTable): boolean {
  const key = ownValue(row, keyColumn);
  return key === null || (typeof key === "string" && [...key].length > MOST_KEY);
}

/** The longest key that the log's indexes take beside a model's name, in characters. */
const MOST_KEY = 512;

function changeOfRecord(sights: readonly Sight[]): RecordChange {
  const [first] = sights as [Sight];
  const { model, id, left: data } = sights.at(-1) as Sight;
  if (!sights.some(({ nested }) => nested))
    return withFacts({ model, id, data, before: first.before === null ? null : first.before.data });
  // Whatever the order, each `before` ended a row and each `after` began one.
  const began = sights.filter(({ after }) => after !== null).length;
  const ended = sights.filter(({ before }) => before !== null).length;
  const wasThere = (data === null ? 0 : 1) - began + ended > 0;
  return withFacts({ model, id, data, before: wasThere ? mostDifferent(sights, data) : null });
}

/** What the images of the row say: the record's values, and since when it is archived. */
function withFacts({ model, id, data, before }: RecordChange): RecordChange {
  const [to, from] = [data, before].map((image) => image && splitArchived(image));
  return {
    ...{ model, id, data: to ? to.data : null, before: from ? from.data : (before as null | undefined) },
    ...(to?.archivedAt !== undefined && { archivedAt: to.archivedAt }),
    ...(from?.archivedAt !== undefined && { archivedBefore: from.archivedAt }),
  };
}

/**
 * Which of the rows was the first one is not known. So a field counts as changed if it ever had another value than it
 * has in the end.
 */
function mostDifferent(sights: readonly Sight[], data: JsonObject | null): JsonObject {
  const images = sights.flatMap(({ before, after }) => [before?.data, after].filter((image) => image != null));
  const fields = new Set(images.flatMap((image) => Object.keys(image)));
  const inIt = (image: JsonObject | null, field: string): Json => (image && ownValue(image, field)) ?? null;
  return Object.fromEntries(
    [...fields].map((field) => {
      const other = images.find((image) => !jsonEqual(inIt(image, field), inIt(data, field)));
      return [field, inIt(other ?? data, field)];
    }),
  );
}
