import { keptOnce } from "../core/log/row-changes.ts";
import { type LogRow, noRows, type RowChange, type Rows } from "../core/log/rows.ts";
import { changeTables, tableOf } from "../core/log/tables.ts";
import { asKept, type ExpectedSlot, lastingPhase, type Mutation, type Stage } from "../core/queue/mutation.ts";
import type { PartialInStore, RowsInStore, Seen, StoredLogRange } from "../engine/ports.ts";

/*
 * The format of the data in IndexedDB. Reading is tolerant, because a newer version of this package may have written
 * it.
 */

/** One row per write, keyed by `seq`, which the database increments for all tabs. */
export interface StoredMutation extends Omit<Mutation, "seq" | "stage"> {
  seq?: number;
  readonly stage: Stage;
}

/** A row in its latest state, or the tombstone of a deleted record. It overrides the snapshot chunks. */
export interface StoredRow extends Partial<LogRow> {
  /** The lower-case model name and the id are the key. */
  readonly model: string;
  readonly id: string;
  readonly gone?: true;
  /** Erased: the snapshot chunks are rewritten without it at once, also if a new record has its id. */
  readonly erased?: true;
}

/**
 * Many rows of a snapshot in one object. In a browser's store, the number of objects determines the cost, not their
 * size: Chromium stores 6 to 9 thousand rows/s as separate objects, and 250 thousand with five hundred rows per object.
 */
export interface StoredChunk {
  /** The chunk's number: chunks are read in the order in which they arrived. */
  n?: number;
  readonly rows: string;
}
const PART = 500;

export interface StoredMeta {
  readonly key: "client" | "log" | "lead";
  readonly clientId?: string;
  readonly owner?: string;
  /** Another owner has asked for this store. */
  readonly others?: boolean;
  /** How large the server lets records be. */
  readonly recordBytes?: number | undefined;
  readonly logId?: string;
  readonly rowsVersion?: number;
  readonly viewHash?: string;
  /** The rows' position; absent while only a part of a snapshot is stored. */
  readonly position?: number;
  /** When the rows were known last to be all that the server has. */
  readonly at?: number;
  /** The unfinished snapshot: its position, and where its next page begins. */
  readonly stamp?: number;
  readonly scope?: string;
  readonly cursor?: string;
  /** How many times a tab has become the leader. */
  readonly generation?: number;
  /** The number of queue changes, not counting new writes. */
  readonly changes?: number;
  /** The highest known `seq` of a write that has left the queue. */
  readonly lastSeq?: number;
}

/** The stored form of a write, without state that only matters in this tab. */
export function toStored(mutation: Mutation): StoredMutation {
  const { seq, ...rest } = asKept(mutation);
  return { ...rest, attempts: 0, ...(seq !== undefined && { seq }) };
}

export const fromStored = (stored: StoredMutation): Mutation => ({
  ...stored,
  seq: stored.seq,
  echoed: stored.echoed ?? [],
});

/** What the slot of a stored write contains. */
export const storedPhase = (stored: StoredMutation): ExpectedSlot["phase"] => lastingPhase(stored.stage);

/** Model names cannot contain `/`, so the key is unambiguous. */
export const rowKey = ({ model, id }: StoredRow): string => `${model}/${id}`;

export const storedRow = (model: string, id: string, row: LogRow): StoredRow => ({ ...row, model: tableOf(model), id });

export const storedChange = ({ record: { model, id }, value, erased }: RowChange): StoredRow => ({
  ...(value ? storedRow(model, id, value) : { model: tableOf(model), id, gone: true }),
  ...(erased && { erased }),
});

export function storedChunks(changes: readonly RowChange[]): StoredChunk[] {
  const parts: StoredChunk[] = [];
  for (let at = 0; at < changes.length; at += PART)
    parts.push({ rows: JSON.stringify(changes.slice(at, at + PART).map(storedChange)) });
  return parts;
}

export const rowsInParts = (parts: readonly StoredChunk[]): readonly StoredRow[] =>
  parts.flatMap(({ rows }) => JSON.parse(rows) as StoredRow[]);

/** The stored rows, or the stored part of a snapshot. If a record occurs several times, the last one counts. */
export function fromStoredRows(stored: readonly StoredRow[], meta?: Partial<StoredMeta>): RestoredRows {
  const reading = new StoredRows();
  reading.add(stored);
  return reading.end(meta);
}

interface RestoredRows {
  readonly rows: RowsInStore;
  readonly partial?: PartialInStore;
}

/** The same for rows that are read some at a time. */
export class StoredRows {
  readonly #names = new Map<string, string>();
  #tables: Rows["tables"] = {};

  add(stored: readonly StoredRow[]): void {
    this.#tables = changeTables(
      this.#tables,
      stored.map((row) => toChange(row, this.#names)),
    );
  }

  end({ logId, rowsVersion, viewHash, position, at, stamp, scope, cursor }: Partial<StoredMeta> = {}): RestoredRows {
    const tables = this.#tables;
    if (logId === undefined || (position === undefined && !cursor)) return { rows: noRows };
    if (position !== undefined) return { rows: { tables, logId, rowsVersion, viewHash, position, at, scope } };
    return {
      rows: noRows,
      partial: { logId, rowsVersion, viewHash, stamp: stamp ?? 0, cursor: cursor ?? "", tables, scope },
    };
  }
}

/** Whether the stored rows have read further than the caller, or belong to another log. */
export function hasNews(
  kept: Omit<StoredMeta, "key"> | Pick<Rows, "logId" | "position"> | undefined,
  seen: Seen,
): boolean {
  if (kept?.position === undefined) return false;
  return kept.logId !== seen?.logId || seen?.position === undefined || kept.position > seen.position;
}

/**
 * Whether stored rows reach up to the range, and were read from the same log under the same view and scope, or under the
 * scope that the range replaces.
 */
export const isContinuedBy = (
  kept: Pick<RowsInStore, "logId" | "rowsVersion" | "viewHash" | "position" | "scope"> | Omit<StoredMeta, "key">,
  { logId, rowsVersion, viewHash, scope, was, from }: StoredLogRange,
): boolean =>
  kept.logId === logId &&
  kept.rowsVersion === rowsVersion &&
  kept.viewHash === viewHash &&
  (kept.scope ?? "") === (was ?? scope ?? "") &&
  kept.position !== undefined &&
  kept.position >= from;

/** Whether there is more to store than what was settled. Rows of further parts may end where the stored ones do. */
export const bringsNews = (
  { to, was, at }: StoredLogRange,
  kept: { readonly position?: number | undefined; readonly at?: number | undefined },
): boolean => to > (kept.position ?? 0) || was !== undefined || (at !== undefined && at !== kept.at);

function toChange({ model, id, gone, erased: _, ...value }: StoredRow, names: Map<string, string>): RowChange {
  const { createdBy, updatedBy } = value;
  if (createdBy !== undefined) value.createdBy = keptOnce(names, createdBy);
  if (updatedBy !== undefined) value.updatedBy = keptOnce(names, updatedBy);
  return { record: { model, id }, value: gone ? undefined : (value as LogRow) };
}

/** The highest known `seq`. */
export const lastSeqOf = (
  { lastSeq = 0 }: StoredMeta,
  places: readonly { readonly seq?: number | undefined }[],
): number => places.reduce((last, { seq = 0 }) => Math.max(last, seq), lastSeq);

/** The owner of a store once `owner` has asked for it, and whether it is another one. */
export function ownedBy(
  before: { readonly owner?: string | undefined; readonly others?: boolean | undefined },
  owner: string,
  instead: string | undefined,
): { readonly owner: string; readonly others?: true } {
  const others = before.others && ({ others: true } as const);
  if (before.owner === undefined || before.owner === instead) return { owner, ...others };
  return { owner: before.owner, ...(before.owner === owner ? others : ({ others: true } as const)) };
}
