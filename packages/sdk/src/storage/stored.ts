import { type LogRow, noRows, type PartialSnapshot, type RowChange, type Rows } from "../core/log/rows.ts";
import { changeTables, tableOf } from "../core/log/tables.ts";
import { asKept, type Mutation } from "../core/queue/mutation.ts";
import type { Seen } from "../engine/ports.ts";

/* How things lie in IndexedDB. Reading is tolerant: a newer version of this package may have written there. */

/** One row per write. Keyed by `seq`, which the database counts up for all tabs. */
export interface StoredMutation extends Omit<Mutation, "seq"> {
  seq?: number;
}

/** A row as the log said last, or that it is gone. It stands above what a page says of its record. */
export interface StoredRow extends Partial<LogRow> {
  /** Lower-case model name and id: the key. */
  readonly model: string;
  readonly id: string;
  readonly gone?: true;
  /** Removed for good: the pages are rid of it at once. */
  readonly erased?: true;
}

/**
 * Rows of a snapshot, many to an object: what a browser's store costs is the object, not its size. One object for each
 * row is 6 to 9 thousand rows/s in Chromium, five hundred of them as one text are 250 thousand.
 */
export interface StoredChunk {
  /** Its place: pages are read in the order in which they came. */
  n?: number;
  readonly rows: string;
}
const PART = 500;

export interface StoredMeta {
  readonly key: "client" | "log" | "lead";
  readonly clientId?: string;
  readonly owner?: string;
  readonly logId?: string;
  readonly rowsVersion?: number;
  readonly viewHash?: string;
  /** How far the rows have read; none while only a part of a snapshot is there. */
  readonly position?: number;
  /** The snapshot that is being kept: its position, and where its next page begins. */
  readonly stamp?: number;
  readonly scope?: string;
  readonly cursor?: string;
  /** How often the tab that sends has changed. */
  readonly generation?: number;
  /** How often the queue was changed, new writes apart. */
  readonly changes?: number;
  /** The last place that is known to have been given to a write that is gone. */
  readonly lastSeq?: number;
}

/** What a write is stored as: what is only true of this moment in this tab is left out. */
export function toStored(mutation: Mutation): StoredMutation {
  const { seq, ...rest } = asKept(mutation);
  return { ...rest, attempts: 0, landed: [], ...(seq !== undefined && { seq }) };
}

export const fromStored = (stored: StoredMutation): Mutation => ({ ...stored, seq: stored.seq });

/** `/` is no letter of a model's name. */
export const rowKey = ({ model, id }: StoredRow): string => `${model}/${id}`;

export const storedRow = (model: string, id: string, row: LogRow): StoredRow => ({ ...row, model: tableOf(model), id });

export const storedChange = ({ record: { model, id }, value, erased }: RowChange): StoredRow =>
  value ? storedRow(model, id, value) : { model: tableOf(model), id, gone: true, ...(erased && { erased }) };

export function storedChunks(changes: readonly RowChange[]): StoredChunk[] {
  const parts: StoredChunk[] = [];
  for (let at = 0; at < changes.length; at += PART)
    parts.push({ rows: JSON.stringify(changes.slice(at, at + PART).map(storedChange)) });
  return parts;
}

export const rowsInParts = (parts: readonly StoredChunk[]): readonly StoredRow[] =>
  parts.flatMap(({ rows }) => JSON.parse(rows) as StoredRow[]);

/** The rows, or the part of a snapshot that was kept of them. Of one record the last says what is so. */
export function fromStoredRows(
  stored: readonly StoredRow[],
  { logId, rowsVersion, viewHash, position, stamp, scope, cursor }: Partial<StoredMeta> = {},
): { rows: Rows; partial?: PartialSnapshot } {
  if (logId === undefined || (position === undefined && !cursor)) return { rows: noRows };
  const tables = changeTables({}, stored.map(toChange));
  if (position !== undefined) return { rows: { tables, logId, rowsVersion, viewHash, position, scope } };
  return {
    rows: noRows,
    partial: { logId, rowsVersion, viewHash, stamp: stamp ?? 0, cursor: cursor ?? "", tables, scope },
  };
}

/** Whether rows that are kept have read further than what was seen of them, or another log. */
export function hasNews(
  kept: Pick<StoredMeta, "logId" | "position"> | Pick<Rows, "logId" | "position"> | undefined,
  seen: Seen,
): boolean {
  if (kept?.position === undefined) return false;
  return kept.logId !== seen?.logId || seen?.position === undefined || kept.position > seen.position;
}

const toChange = ({ model, id, gone, erased: _, ...value }: StoredRow): RowChange => ({
  record: { model, id },
  value: gone ? undefined : (value as LogRow),
});

/** The last place that was given, of those that are known. */
export const lastSeqOf = (
  { lastSeq = 0 }: StoredMeta,
  places: readonly { readonly seq?: number | undefined }[],
): number => places.reduce((last, { seq = 0 }) => Math.max(last, seq), lastSeq);
