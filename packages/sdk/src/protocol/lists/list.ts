import { type Static, type TSchema, Type } from "typebox";
import { UnreadableRecord } from "../log/unreadable-record.ts";

/** The envelope of every list. `next_cursor` is null on the last page. */
export const ListEnvelope = <T extends TSchema>(item: T) =>
  Type.Object({
    object: Type.Literal("list"),
    /** On lists of records: the model, as declared. */
    model: Type.Optional(Type.String()),
    data: Type.Array(item),
    /** Whether there is more beyond this page. */
    has_more: Type.Boolean(),
    /** Send as `starting_after` (the log: as `after`) for the next page. */
    next_cursor: Type.Union([Type.String(), Type.Null()]),
    /** Lists of records only: whether there were records before this page when its cursor was given. */
    has_previous: Type.Optional(Type.Boolean()),
    /** Send as `ending_before` for the page before. Null on the first page. */
    previous_cursor: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    /** Head of the log before the page was read. */
    stamp: Type.Optional(Type.Integer()),
    /** The log that positions count in. */
    logId: Type.Optional(Type.String()),
    /** The log only: counts the pushes of a schema that changed records without an entry. */
    rowsVersion: Type.Optional(Type.Integer()),
    /** The log only: whose token it was, as `<organization>/<live|test>/<kind>/<participant>`. */
    owner: Type.Optional(Type.String()),
    /** The log only: a fingerprint of all that the token may read. */
    viewHash: Type.Optional(Type.String()),
    /** The log only: the requested models that are declared and that the token may read. */
    models: Type.Optional(Type.Array(Type.String())),
    /** The log only: bytes of JSON that a record can have on this server after a write. */
    recordBytes: Type.Optional(Type.Integer()),
    /** The log only: the server's time, by which a client knows how far its device's clock is off. */
    serverTime: Type.Optional(Type.String()),
    /** Id → time of archiving, of those on the page that are archived. */
    archived: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** Lists of records only: those that the page leaves out, because they are larger than can be read. */
    unreadable: Type.Optional(Type.Array(UnreadableRecord)),
    /** A query with `count` only: how many records there are on all pages. */
    count: Type.Optional(Type.Integer()),
    /** A query with `countBy` only: values, or items of an array, that most records have, and how many have them. */
    counts: Type.Optional(Type.Array(Type.Object({ value: Type.Unknown(), count: Type.Integer() }))),
    /** Whether there are more values than in `counts`. */
    has_more_counts: Type.Optional(Type.Boolean()),
    /** History only: log entries up to this position are no longer kept. */
    trimmedTo: Type.Optional(Type.Integer()),
  });

/** A page of a list, as its reader has it. */
export type List<T> = Omit<Static<ReturnType<typeof ListEnvelope<TSchema>>>, "data"> & { data: T[] };
