import { type Static, Type } from "typebox";

/**
 * What happens to a write whose premise has changed. The aliases `force`, `flag`, `merge` are translated where bytes
 * come in.
 */
export const OnStale = Type.Union([Type.Literal("reject"), Type.Literal("overwrite"), Type.Literal("notify")]);
export type OnStale = Static<typeof OnStale>;

/** Why a write was held: what changed, who changed it, and the current values. */
export const StaleNotification = Type.Object({
  object: Type.Literal("stale_notification"),
  model: Type.String(),
  id: Type.String(),
  /** `<participantKind>:<participantId>` of the newest conflicting entry. */
  writtenBy: Type.String(),
  /** The sync group of a group premise; absent otherwise. */
  group: Type.Optional(Type.String()),
  /** What the write was based on. */
  readAt: Type.Integer(),
  /** Position of the newest entry that conflicts. */
  observedSyncId: Type.Integer(),
  /** The fields that both changed. */
  conflictingFields: Type.Array(Type.String()),
  /** The current values of those fields; null if absent. Not there with `currentValuesOmitted`. */
  currentValues: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  /** With these values, those of the receipt would have more than 1 MiB together: read the record. */
  currentValuesOmitted: Type.Optional(Type.Literal(true)),
});
export type StaleNotification = Static<typeof StaleNotification>;
