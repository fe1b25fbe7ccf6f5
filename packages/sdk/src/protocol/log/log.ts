import { type Static, Type } from "typebox";
import { changeKeys } from "../commits/attribution.ts";

export const VERBS = ["created", "updated", "deleted", "archived", "unarchived", "erased"] as const;
/** What happened to a record. */
export type Verb = (typeof VERBS)[number];

export const PARTICIPANT_KINDS = ["user", "agent", "system"] as const;
export type ParticipantKind = (typeof PARTICIPANT_KINDS)[number];

/** One log entry: one operation that changed something. */
export const LogEntry = Type.Object({
  object: Type.Literal("log_entry"),
  /** Position in the log: 1, 2, 3 … without gaps, in commit order. */
  syncId: Type.Integer(),
  /** The model, as declared. */
  model: Type.String(),
  id: Type.String(),
  verb: Type.Union(VERBS.map((verb) => Type.Literal(verb))),
  /** The row after; null when the record was deleted or erased by this entry, its values were erased since, or cannot be read. */
  data: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  /** The values were erased since: `data` is null, and an entry with the verb `erased` comes later. */
  erased: Type.Optional(Type.Boolean()),
  /** Why the record cannot be read, in a sentence: `data` is null, and the record has no values until a later entry. */
  unreadable: Type.Optional(Type.String()),
  /** The fields that an update wrote; null on every other verb, and where `unreadable` is given. */
  changedFields: Type.Union([Type.Array(Type.String()), Type.Null()]),
  /** The writer's name for the commit. */
  clientTxId: Type.String(),
  /** The writer's device, when it says so. */
  clientId: Type.Union([Type.String(), Type.Null()]),
  transactionId: Type.Union([Type.String(), Type.Null()]),
  /** Participant id of the writer. */
  actor: Type.String(),
  /** Whether a person, an agent or a system wrote it. */
  participantKind: Type.Union(PARTICIPANT_KINDS.map((kind) => Type.Literal(kind))),
  /** The claim that the write was bound to. */
  claim: Type.Union([Type.String(), Type.Null()]),
  // Of its commit, as far as they were given and not erased since.
  ...changeKeys,
  /** When it was committed; never before the previous entry. */
  createdAt: Type.String(),
  /** Since when the record is archived: on an update of an archived one, and where a table has another time than `createdAt`. */
  archivedAt: Type.Optional(Type.String()),
  /**
   * Who created the record, `<participantKind>:<participantId>`, and when: of a change that may bring it to a reader of
   * groups or conditions who has not seen it.
   */
  record: Type.Optional(Type.Object({ createdAt: Type.String(), createdBy: Type.String() })),
  /** The record left the groups that the reader hears: `verb` is `deleted`, the record still exists elsewhere. */
  left: Type.Optional(Type.Boolean()),
});
export type LogEntry = Omit<Static<typeof LogEntry>, "verb" | "participantKind"> & {
  verb: Verb;
  participantKind: ParticipantKind;
};
