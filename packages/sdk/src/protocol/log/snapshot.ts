import type { JsonObject } from "../json.ts";

/** First line of a snapshot page: the head of the log before the first page was read. */
export interface SnapshotStart {
  object: "snapshot";
  stamp: number;
  logId: string;
  /** Counts the pushes of a schema that changed records without an entry in the log: rows read under another number are read anew. */
  rowsVersion: number;
  /** Whose token it was: `<organization>/<live|test>/<kind>/<participant>`. */
  owner: string;
  /** A fingerprint of all that the token may read. Rows that were read under another one are read again. */
  viewHash: string;
  /** Those of the models asked for that are declared and that the token may read, as declared. */
  models: string[];
}

/** One record; it may be newer than `stamp`, never older. */
export interface SnapshotLine {
  model: string;
  id: string;
  syncId: number;
  archivedAt?: string;
  data: JsonObject;
}

/** Last line of a page. A page without it is incomplete. */
export interface SnapshotEnd {
  object: "snapshot_end";
  count: number;
  next_cursor: string | null;
}
