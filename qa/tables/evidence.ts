import type { Followed, WriteCall } from "../support/audit.ts";
import type { StoredEntry, StoredRow } from "../support/log-tables.ts";

/** An entry of the log, with its author. Large values are digested in all evidence. */
export interface Entry extends StoredEntry {
  readonly actor: string;
  readonly kind: string;
  /** Why the record cannot be read; then `data` is null. */
  readonly unreadable?: string | null;
}

/** A record as the server reads it. */
export interface Record extends StoredRow {
  /** The bytes of its JSON, in place of `data`. */
  readonly unreadable?: number | null;
}

/** A row of an attached table, as its record has to be. */
export interface TableRow extends Pick<StoredRow, "model" | "id" | "data"> {
  /** Of its JSON, if it can be large. */
  readonly bytes?: number;
}

/** One change of a row, as a trigger of the tables' own noted it: in the transaction, while it held the row's lock. */
export interface NotedChange {
  readonly tx: string;
  readonly model: string;
  readonly id: string;
  /** The value that names the writer's transaction; null: the row was deleted. */
  readonly mark: string | null;
  /** Digests of large values. */
  readonly body?: string | null;
  readonly doc?: string | null;
  /** Of the row's JSON, if it can be large. */
  readonly bytes?: number;
  /** It was made in plain SQL, and not by the server. */
  readonly isSql: boolean;
}

/** A transaction in plain SQL, as its writer remembers it. */
export interface SqlCall {
  readonly mark: string;
  /** What the writer knows of its end. Unknown: the connection was cut during the commit. */
  outcome: "committed" | "undone" | "unknown";
  /** It inserted or updated a row. */
  wrote: boolean;
}

/** What a reader was told of a paper: by the stream, by the log, or by a list. */
export interface ToldPaper {
  readonly by: string;
  readonly id: string;
  /** Of an entry. */
  readonly syncId?: number;
  /** Null: no values. */
  readonly data: { readonly mark: unknown; readonly body: string | null } | null;
  readonly unreadable?: unknown;
}

/** All that is known after a run, once the writers have stopped and no captured change waits. */
export interface Evidence {
  readonly head: number;
  readonly log: readonly Entry[];
  readonly records: readonly Record[];
  readonly rows: readonly TableRow[];
  /** In the order in which they were made. */
  readonly noted: readonly NotedChange[];
  /** Models of tables without triggers: there the writers in SQL note their own changes, and the server's are not noted. */
  readonly unnoted: readonly string[];
  /** How many captured changes were never collected. */
  readonly waiting: number;
  readonly commits: readonly WriteCall[];
  readonly transactions: readonly SqlCall[];
  readonly followers: readonly Followed[];
  /** Entries as the stream and the log sent them. */
  readonly told: readonly ToldPaper[];
  /** Whole lists of papers at the end, each as one server sent it. */
  readonly lists: readonly (readonly ToldPaper[])[];
}
