import { type Static, Type } from "typebox";
import { changeKeys } from "../commits/attribution.ts";
import { PARTICIPANT_KINDS, type ParticipantKind, VERBS } from "../log/log.ts";

/** One committed change, as an endpoint receives it. */
export const WebhookEvent = Type.Object({
  /** `<model in lower case>.<verb>`, as `slide.created`; the verbs are those of the log. */
  type: Type.String({ pattern: `^.+\\.(${VERBS.join("|")})$` }),
  /** The model, as declared. */
  model: Type.String(),
  /** Id of the record. */
  objectId: Type.String(),
  /** The row after; null when the record was deleted or erased, or cannot be read. */
  data: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  /** Why the record cannot be read, in a sentence. */
  unreadable: Type.Optional(Type.String()),
  /** Position in the log: sort by it, and skip positions that you already have. */
  syncId: Type.Integer(),
  /** The same as text. */
  id: Type.String(),
  /** When it was committed. */
  createdAt: Type.String(),
  /** Participant id of the writer. */
  actor: Type.Optional(Type.String()),
  /** Whether a person, an agent or a system wrote it. */
  participantKind: Type.Optional(
    Type.Unsafe<ParticipantKind>(Type.Union(PARTICIPANT_KINDS.map((kind) => Type.Literal(kind)))),
  ),
  ...changeKeys,
});
export type WebhookEvent = Static<typeof WebhookEvent>;

/** Body of a delivery: up to 100 events, in the order of the log. */
export const WebhookBatch = Type.Object({
  data: Type.Array(WebhookEvent),
  /** The log that the positions count in. After a restore it is another log, with new positions. */
  logId: Type.String(),
});
export type WebhookBatch = Static<typeof WebhookBatch>;
