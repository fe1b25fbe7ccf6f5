import { type Static, Type } from "typebox";
import { Claim } from "../claims/claim.ts";
import { ErrorEnvelope } from "../errors/error.ts";
import { LogEntry } from "../log/log.ts";
import { Peer } from "../presence/presence.ts";
import { AnswerFrame } from "./call-frames.ts";
import { PartEntries, Refused, Subscribed, Unsubscribed } from "./part-frames.ts";

// Open, unlike the frames of a client: a newer server may say more, and a client ignores what it does not know.

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()]);

const ofToken = {
  /** Whose token it is: `<organization>/<live|test>/<kind>/<participant>`. */
  owner: Type.String(),
  /** A fingerprint of all that the token may read. Rows that were read under another one are read again. */
  viewHash: Type.String(),
  /** Those of the models asked for that are declared and that the token may read, as declared. With parts: all that it may read. */
  models: Type.Array(Type.String()),
  expiresAt: Nullable(Type.String()),
  /** Milliseconds until the token ends; null: it does not. */
  expiresInMs: Nullable(Type.Integer()),
};

/** The client was heard; entries after `resumeFrom` follow. */
export const Welcome = Type.Object({
  frame: Type.Literal("welcome"),
  /** Head of the log now. */
  stamp: Type.Integer(),
  logId: Type.String(),
  session: Type.String(),
  /** `<participantKind>:<participantId>` */
  participant: Type.String(),
  ...ofToken,
  protocol: Type.String(),
  resumeFrom: Type.Integer(),
  schema: Nullable(Type.Object({ version: Type.Integer(), hash: Type.String() })),
  /** Counts the pushes of a schema that changed records without an entry in the log: rows read under another number are read anew. */
  rowsVersion: Type.Integer(),
  /** How many calls without an answer the stream takes. Absent: it takes none. */
  calls: Type.Optional(Type.Integer()),
  /** How many parts the stream can follow. Absent: it follows no parts. */
  parts: Type.Optional(Type.Integer()),
  /** Bytes of JSON that a record can have on this server after a write. */
  recordBytes: Type.Optional(Type.Integer()),
  /** The server's time, by which a client knows how far its device's clock is off. */
  serverTime: Type.Optional(Type.String()),
});
export type Welcome = Static<typeof Welcome>;

/** The answer to `auth`: the stream goes on under the new token. */
export const Renewed = Type.Object({ frame: Type.Literal("renewed"), ...ofToken });
export type Renewed = Static<typeof Renewed>;

/** Covers every position in (from, to]; what the reader may not see, or did not follow, is left out. */
export const Entries = Type.Object({
  frame: Type.Literal("entries"),
  from: Type.Integer(),
  to: Type.Integer(),
  entries: Type.Array(Type.Unsafe<LogEntry>(LogEntry)),
});
export type Entries = Static<typeof Entries>;

/** Every live claim of a watched record: the whole state, never a diff. */
export const ClaimsFrame = Type.Object({
  frame: Type.Literal("claims"),
  /** The model, as declared. */
  model: Type.String(),
  id: Type.String(),
  claims: Type.Array(Claim),
  /** The line, the next one first. */
  queue: Type.Array(Claim),
});
export type ClaimsFrame = Static<typeof ClaimsFrame>;

/** One claim of this participant changed: granted, renewed, moved in its line, or ended. */
export const ClaimFrame = Type.Object({
  frame: Type.Literal("claim"),
  claim: Claim,
  /** Of one that ended: who holds its record now, as far as the reader may see the record. */
  holders: Type.Optional(Type.Array(Claim)),
});
export type ClaimFrame = Static<typeof ClaimFrame>;

/** Proposals that the reader may see were made, decided, or have expired: read them again. */
export const ProposalsFrame = Type.Object({ frame: Type.Literal("proposals") });
export type ProposalsFrame = Static<typeof ProposalsFrame>;

/** Who is in a room that this session entered. The first one holds all who are there. */
export const PresenceFrame = Type.Object({
  frame: Type.Literal("presence"),
  room: Type.String(),
  joined: Type.Array(Peer),
  updated: Type.Array(Peer),
  /** Participants, `<kind>:<id>`. */
  left: Type.Array(Type.String()),
});
export type PresenceFrame = Static<typeof PresenceFrame>;

export const SchemaFrame = Type.Object({
  frame: Type.Literal("schema"),
  version: Type.Integer(),
  hash: Type.String(),
  /** As in `welcome`, under the new schema. */
  models: Type.Array(Type.String()),
});
export type SchemaFrame = Static<typeof SchemaFrame>;

const RESYNC_REASONS = ["trimmed", "other_log", "ahead", "schema", "scope"] as const;
export type ResyncReason = (typeof RESYNC_REASONS)[number];

/** Read a snapshot and say hello again. */
export const Resync = Type.Object({
  frame: Type.Literal("resync"),
  reason: Type.Unsafe<ResyncReason>(Type.Union(RESYNC_REASONS.map((reason) => Type.Literal(reason)))),
});
export type Resync = Static<typeof Resync>;

export const Pong = Type.Object({ frame: Type.Literal("pong"), n: Type.Integer(), stamp: Type.Integer() });
export type Pong = Static<typeof Pong>;

export const ErrorFrame = Type.Object({ frame: Type.Literal("error"), ...ErrorEnvelope.properties });
export type ErrorFrame = Static<typeof ErrorFrame>;

export const FrameDown = Type.Union([
  Welcome,
  Renewed,
  Entries,
  Subscribed,
  Unsubscribed,
  Refused,
  PartEntries,
  ClaimsFrame,
  ClaimFrame,
  PresenceFrame,
  ProposalsFrame,
  SchemaFrame,
  Resync,
  Pong,
  AnswerFrame,
  ErrorFrame,
]);
export type FrameDown = Static<typeof FrameDown>;
