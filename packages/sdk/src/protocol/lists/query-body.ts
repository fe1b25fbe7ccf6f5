import { type Static, Type } from "typebox";
import { limits } from "../limits.ts";

const strict = { additionalProperties: false };
const Direction = Type.Union([Type.Literal("asc"), Type.Literal("desc")]);

const QueryKey = Type.Object(
  {
    /** A field, `id`, `$createdAt`, `$createdBy`, `$updatedAt`, `$updatedBy`, `$archivedAt` or `$syncId`. */
    field: Type.String(),
    order: Type.Optional(Direction),
    /** Of an enum: in the order in which the schema lists its values. */
    by: Type.Optional(Type.Literal("values")),
  },
  strict,
);

/** A list of records, in the language of a client's queries. */
export const QueryBody = Type.Object(
  {
    /**
     * Conditions that all hold: by field a value, or `not`, `in`, `notIn`, `gt`, `gte`, `lt`, `lte`, `contains`,
     * `startsWith` and `search`; `and` and `or` are lists of conditions.
     */
    where: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    /** Words, each of which occurs in one of the fields with `"index": "text"`, in upper or lower case. */
    search: Type.Optional(Type.String()),
    /** What to sort by, default `id`. A later key counts where those before are equal. */
    orderBy: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.Union([Type.String(), QueryKey]), { maxItems: limits.sortKeys })]),
    ),
    /** Of the keys without a direction of their own; default `asc`. */
    order: Type.Optional(Direction),
    /** 1 to 100, default 20. With `count` or `countBy`, 0 gives no records. */
    limit: Type.Optional(Type.Integer({ minimum: 0, maximum: limits.listMax })),
    /** Archived records: default `without`. */
    archived: Type.Optional(Type.Union([Type.Literal("without"), Type.Literal("only"), Type.Literal("with")])),
    /** Adds `count` to the answer: how many records there are on all pages. */
    count: Type.Optional(Type.Boolean()),
    /** A field, or what `orderBy` may have. Adds `counts` to the answer: how many of them have which value, or item of an array. */
    countBy: Type.Optional(Type.String()),
    /** `next_cursor` of the previous page. */
    starting_after: Type.Optional(Type.String()),
    /** `previous_cursor` of the next page: the records right before it, in the same order. */
    ending_before: Type.Optional(Type.String()),
  },
  strict,
);
export type QueryBody = Static<typeof QueryBody>;
