import { recordKey } from "../commits/commit-request.ts";
import type { AttachedTable } from "./attached-table.ts";
import { missingColumns } from "./check-attached.ts";
import { type ParsedRow, type RowImage, readRowImage } from "./row-image.ts";

/** What a trigger captured: a row that was written (w) or deleted (d), or that the table was truncated (t). */
export interface CapturedChange {
  /** The caller's transaction. */
  readonly tx: string;
  readonly kind: "w" | "d" | "t";
  readonly model: string;
  /** The row; null if the table was truncated. */
  readonly image: ParsedRow | null;
}

/** A change of one record. `data` is null if it is gone. */
export interface RecordChange {
  readonly model: string;
  readonly id: string;
  readonly data: RowImage["data"] | null;
}

/** What one transaction did, or a part of it. */
export interface TransactionChanges {
  readonly tx: string;
  readonly changes: readonly RecordChange[];
}

/** One step of work: changes of records, by transaction, or a model whose records all go. */
export type ChangeStep =
  | { readonly kind: "records"; readonly commits: readonly TransactionChanges[] }
  | { readonly kind: "truncate"; readonly tx: string; readonly model: string };

/** A table that is not as it was when it was attached. Its changes cannot be recorded. */
export interface BrokenTable {
  readonly model: string;
  readonly problem: string;
}

/**
 * The steps that changes amount to, in order. Within a transaction a record that was changed several times counts once, with
 * its last state: only the transaction itself saw another one.
 */
export function stepsOf(
  changes: readonly CapturedChange[],
  attached: readonly AttachedTable[],
): { readonly steps: readonly ChangeStep[]; readonly broken?: BrokenTable } {
  const byModel = new Map(attached.map((table) => [table.model, table]));
  const steps: ChangeStep[] = [];
  let tx = "";
  let commits: TransactionChanges[] = [];
  let records = new Map<string, RecordChange>();
  const endTransaction = () => {
    if (records.size > 0) commits.push({ tx, changes: [...records.values()] });
    records = new Map();
  };
  const endStep = () => {
    endTransaction();
    if (commits.length > 0) steps.push({ kind: "records", commits });
    commits = [];
  };
  for (const { tx: of, kind, model, image } of changes) {
    const table = byModel.get(model);
    // Captured before the table was detached.
    if (!table) continue;
    if (of !== tx) endTransaction();
    tx = of;
    if (image === null) {
      endStep();
      steps.push({ kind: "truncate", tx, model });
      continue;
    }
    const row = readRowImage(image, table);
    const problem = problemOf(row, kind, table);
    if (problem !== undefined) return { steps: [], broken: { model, problem } };
    const id = row.id ?? "";
    const key = recordKey(model, id);
    // Deleted first, so that the record comes where it was changed last.
    records.delete(key);
    records.set(key, { model, id, data: kind === "w" ? row.data : null });
  }
  endStep();
  return { steps };
}

function problemOf({ id, missing }: RowImage, kind: "w" | "d" | "t", { name, keyColumn }: AttachedTable) {
  const gone = id === undefined ? [keyColumn] : kind === "w" ? missing : [];
  return gone.length === 0 ? undefined : missingColumns(name, gone);
}
