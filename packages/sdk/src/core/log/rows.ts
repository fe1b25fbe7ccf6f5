import type { Row } from "../../protocol/commits/apply.ts";
import type { FollowedRecords } from "../../protocol/log/followed-records.ts";
import type { LogEntry } from "../../protocol/log/log.ts";
import type { Part } from "../../protocol/stream/part-frames.ts";
import type { RecordChange, RecordRef, Tables } from "./tables.ts";

/** A record in the state that the log gives it. */
export interface LogRow extends Row {
  /** Position of its last log entry. */
  readonly syncId: number;
  /** Undefined here: rows of a server or a store that does not know it. */
  readonly createdAtMs?: number | undefined;
  /** `<kind>:<id>` of a participant. */
  readonly createdBy?: string | undefined;
  /** Undefined: as it was created. */
  readonly updatedAtMs?: number | undefined;
  readonly updatedBy?: string | undefined;
}

/** The state of the log, without pending writes of this client. */
export interface Rows {
  readonly tables: Tables<LogRow>;
  /** The log of `position`. Undefined until a snapshot has been read. */
  readonly logId: string | undefined;
  readonly position: number | undefined;
  /**
   * The version of the server's changes that have no log entry, such as schema pushes. Rows of another version are read
   * again.
   */
  readonly rowsVersion?: number | undefined;
  /** The view (`viewHash`) under which the rows were read. Rows of another view are read again. */
  readonly viewHash?: string | undefined;
  /** Which records these are. Absent: all that the token and the schema cover. */
  readonly scope?: Scope | undefined;
  /** When they were known last to be all that the server has (ms since 1970). */
  readonly at?: number | undefined;
  /**
   * The rows at `position` of the records that `tables` has in a later state (`withAhead`). Undefined in it: the record
   * was absent.
   */
  readonly ahead?: ReadonlyMap<string, LogRow | undefined> | undefined;
}

/** A snapshot that is not complete yet. */
export interface PartialSnapshot {
  readonly logId: string;
  readonly stamp: number;
  readonly rowsVersion?: number | undefined;
  readonly viewHash?: string | undefined;
  /** Where the next page begins. */
  readonly cursor: string;
  readonly tables: Rows["tables"];
  readonly scope?: Scope | undefined;
}

/** Which records to read: those of these models, in one of these groups. An absent field does not filter. */
export interface Scope {
  readonly models?: readonly string[] | undefined;
  readonly groups?: readonly string[] | undefined;
  /** By model: only records that meet these conditions, or those of one of several alternatives. */
  readonly where?: FollowedRecords | undefined;
}

/** All that the token and the schema cover. */
export const everything: Scope = {};

export const noRows: Omit<Rows, "scope"> = { tables: {}, logId: undefined, position: undefined };

export interface RowChange extends RecordChange<LogRow> {
  /** The record was erased: none of its values may stay on disk. */
  readonly erased?: true;
}

/** Log entries that cover every position in (from, to]. */
export interface LogRange {
  readonly from: number;
  readonly to: number;
  readonly entries: readonly LogEntry[];
}

/** Parts that are being read while the stream goes on for those that are there. */
export interface AddedParts {
  /** What is read. */
  readonly scope: Scope;
  /** From this position on, `early` has all that has happened to them. */
  readonly from: number;
  /** What the stream has said of records that are not in the rows' own parts, by key. */
  readonly early: ReadonlyMap<string, EarlyRow>;
}

export interface EarlyRow {
  readonly record: RecordRef;
  readonly syncId: number;
  /** Undefined: it was deleted, or has left. */
  readonly value: LogRow | undefined;
}

/** What the open stream was told to follow. */
export interface Subscribed {
  /** Ids of the parts that the stream follows or was asked for. */
  readonly parts: ReadonlySet<string>;
  /** Those of them that it has not answered yet. */
  readonly asked: ReadonlySet<string>;
  /** Those that it was told to leave, and may still speak of. */
  readonly leaving: ReadonlySet<string>;
  /** Pieces of them that are named once the stream is welcome. */
  readonly rest: readonly (readonly Part[])[];
  /** The scopes that these are for. Undefined: they have to be compared again. */
  readonly wanted: readonly Scope[] | undefined;
}
