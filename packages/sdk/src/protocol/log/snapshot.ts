import { type Static, Type } from "typebox";
import type { JsonObject } from "../json.ts";
import { UnreadableRecord } from "./unreadable-record.ts";

/** First line of a snapshot page: the head of the log before the first page was read. */
export const SnapshotStart = Type.Object({
  object: Type.Literal("snapshot"),
  stamp: Type.Integer(),
  logId: Type.String(),
  /** Counts the pushes of a schema that changed records without an entry in the log: rows read under another number are read anew. */
  rowsVersion: Type.Integer(),
  /** Whose token it was: `<organization>/<live|test>/<kind>/<participant>`. */
  owner: Type.String(),
  /** A fingerprint of all that the token may read. Rows that were read under another one are read again. */
  viewHash: Type.String(),
  /** Those of the models asked for that are declared and that the token may read, as declared. */
  models: Type.Array(Type.String()),
  /** Bytes of JSON that a record can have on this server after a write. */
  recordBytes: Type.Optional(Type.Integer()),
  /** The server's time, by which a client knows how far its device's clock is off. */
  serverTime: Type.Optional(Type.String()),
});
export type SnapshotStart = Static<typeof SnapshotStart>;

/** One record; it may be newer than `stamp`, never older. */
export const SnapshotLine = Type.Object({
  model: Type.String(),
  id: Type.String(),
  syncId: Type.Integer(),
  archivedAt: Type.Optional(Type.String()),
  createdAt: Type.Optional(Type.String()),
  /** `<participantKind>:<participantId>` of the participant that created it. */
  createdBy: Type.Optional(Type.String()),
  /** Absent: nothing has changed since it was created. */
  updatedAt: Type.Optional(Type.String()),
  /** The last writer. Absent: nothing has changed since it was created. */
  updatedBy: Type.Optional(Type.String()),
  data: Type.Unsafe<JsonObject>(Type.Record(Type.String(), Type.Unknown())),
});
export type SnapshotLine = Static<typeof SnapshotLine>;

/** Last line of a page. A page without it is incomplete. */
export const SnapshotEnd = Type.Object({
  object: Type.Literal("snapshot_end"),
  count: Type.Integer(),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
  /** Records that the page leaves out, because they are larger than can be read: up to 100 of a page. */
  unreadable: Type.Optional(Type.Array(UnreadableRecord)),
});
export type SnapshotEnd = Static<typeof SnapshotEnd>;
