import { type Static, Type } from "typebox";
import { ErrorEnvelope } from "../errors/error.ts";
import { limits } from "../limits.ts";
import { FollowedConditions } from "../log/followed-records.ts";
import { LogEntry } from "../log/log.ts";

const strict = { additionalProperties: false };

/** Records that a client follows under a name of its own. */
export const Part = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: limits.partIdLength }),
    model: Type.String({ minLength: 1, maxLength: 63 }),
    /** Only records that meet these. Absent: all of the model. */
    where: Type.Optional(FollowedConditions),
    /** Up to where the client has read the part; null: not at all. Absent: up to where the stream begins. */
    since: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
  },
  strict,
);
export type Part = Static<typeof Part>;

/** Each part is checked by itself, so that a mistake in one is said by its id, and the others are followed. */
export const Parts = Type.Array(
  Type.Unsafe<Part>(Type.Object({ id: Type.String({ minLength: 1, maxLength: limits.partIdLength }) })),
  { maxItems: limits.partsNamed },
);

/** Follows more parts. `more`: after a `hello` with `more`, others follow. */
export const Subscribe = Type.Object(
  { frame: Type.Literal("subscribe"), parts: Parts, more: Type.Optional(Type.Boolean()) },
  strict,
);

/** Follows the parts with these ids no longer. */
export const Unsubscribe = Type.Object(
  {
    frame: Type.Literal("unsubscribe"),
    ids: Type.Array(Type.String({ maxLength: limits.partIdLength }), { maxItems: limits.partsNamed }),
  },
  strict,
);

/**
 * The stream has all that concerns the part after `position`. `read`: the client reads what is before from a snapshot; else
 * frames `partEntries` with it follow, if there is something between the part's `since` and `position`.
 */
export const Subscribed = Type.Object({
  frame: Type.Literal("subscribed"),
  id: Type.String(),
  position: Type.Integer(),
  read: Type.Boolean(),
});
export type Subscribed = Static<typeof Subscribed>;

/** From here on, no frame has anything that only concerns these parts. */
export const Unsubscribed = Type.Object({ frame: Type.Literal("unsubscribed"), ids: Type.Array(Type.String()) });
export type Unsubscribed = Static<typeof Unsubscribed>;

/** The part with this id is not followed, for this reason. The other parts are. */
export const Refused = Type.Object({ frame: Type.Literal("refused"), id: Type.String(), ...ErrorEnvelope.properties });
export type Refused = Static<typeof Refused>;

/**
 * What happened to a part in (from, to], until its `position` is reached. Some of it may have been in frames `entries`
 * already, and what is newer too: an entry that is older than what the client has of its record says nothing new.
 */
export const PartEntries = Type.Object({
  frame: Type.Literal("partEntries"),
  id: Type.String(),
  from: Type.Integer(),
  to: Type.Integer(),
  entries: Type.Array(Type.Unsafe<LogEntry>(LogEntry)),
});
export type PartEntries = Static<typeof PartEntries>;
