import { type TSchema, Type } from "typebox";

/** The envelope of every list. `next_cursor` is null on the last page. */
export const ListEnvelope = <T extends TSchema>(item: T) =>
  Type.Object({
    object: Type.Literal("list"),
    model: Type.Optional(Type.String()),
    data: Type.Array(item),
    has_more: Type.Boolean(),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
    stamp: Type.Optional(Type.Integer()),
    logId: Type.Optional(Type.String()),
    archived: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** History only: log entries up to this position are no longer kept. */
    trimmedTo: Type.Optional(Type.Integer()),
  });

export interface List<T> {
  object: "list";
  model?: string;
  data: T[];
  has_more: boolean;
  next_cursor: string | null;
  stamp?: number;
  logId?: string;
}
