import type { Followed, WriteCall } from "../support/audit.ts";
import type { StoredEntry, StoredRow } from "../support/log-tables.ts";

/** An entry of the log, with its author. */
export interface Entry extends StoredEntry {
  readonly actor: string;
  readonly kind: string;
}

/** A row of an attached table, as its record has to be. */
export type TableRow = Pick<StoredRow, "model" | "id" | "data">;

/** One change of a row, as a trigger of the tables' own noted it: in the transaction, while it held the row's lock. */
export interface NotedChange {
  readonly tx: string;
  readonly model: string;
  readonly id: string;
  /** The value that names the writer's transaction; null: the row was deleted. */
  readonly mark: string | null;
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

/** All that is known after a run, once the writers have stopped and no captured change waits. */
export interface Evidence {
  readonly head: number;
  readonly log: readonly Entry[];
  readonly records: readonly StoredRow[];
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
}
