import { type Static, Type } from "typebox";
import { limits } from "../limits.ts";

const strict = { additionalProperties: false };
const Value = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);
const Bound = Type.Union([Type.String(), Type.Number()]);

/** Operators on one field, which must all hold. */
const Operators = Type.Object(
  {
    /** One of these values; null: no value. */
    in: Type.Optional(Type.Array(Value, { maxItems: limits.followedValues })),
    /** An array that has this item. */
    contains: Type.Optional(Type.String()),
    gt: Type.Optional(Bound),
    gte: Type.Optional(Bound),
    lt: Type.Optional(Bound),
    lte: Type.Optional(Bound),
  },
  { ...strict, minProperties: 1 },
);

/** By field (or `id`): a value that it must have (null: it has none), or operators. All must hold. */
export const FollowedConditions = Type.Record(Type.String(), Type.Union([Value, Operators]));
export type FollowedConditions = Static<typeof FollowedConditions>;

/**
 * By model: only records that meet these conditions, or those of one of several alternatives (none, if there are none). A
 * model that is not named is not limited.
 */
export const FollowedRecords = Type.Record(
  Type.String(),
  Type.Union([FollowedConditions, Type.Array(FollowedConditions, { maxItems: limits.followedAlternatives })]),
);
export type FollowedRecords = Static<typeof FollowedRecords>;
