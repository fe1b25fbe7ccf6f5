import type { Claim } from "../claims/claim.ts";
import type { ErrorEnvelope } from "../errors/error.ts";
import type { LogEntry } from "../log/log.ts";
import type { Peer } from "../presence/presence.ts";

/** The client was heard; entries after `resumeFrom` follow. */
export interface Welcome {
  frame: "welcome";
  /** Head of the log now. */
  stamp: number;
  logId: string;
  session: string;
  /** `<participantKind>:<participantId>` */
  participant: string;
  /** Whose token it is: `<organization>/<live|test>/<kind>/<participant>`. */
  owner: string;
  /** A fingerprint of all that the token may read. Rows that were read under another one are read again. */
  viewHash: string;
  /** Those of the models asked for that are declared and that the token may read, as declared. */
  models: string[];
  protocol: string;
  resumeFrom: number;
  expiresAt: string | null;
  /** Milliseconds until the token ends; null: it does not. */
  expiresInMs: number | null;
  schema: { version: number; hash: string } | null;
  /** Counts the pushes of a schema that changed records without an entry in the log: rows read under another number are read anew. */
  rowsVersion: number;
}

/** The answer to `auth`: the stream goes on under the new token. */
export type Renewed = { frame: "renewed" } & Pick<
  Welcome,
  "owner" | "viewHash" | "models" | "expiresAt" | "expiresInMs"
>;

/** Covers every position in (from, to]; what the reader may not see, or did not follow, is left out. */
export interface Entries {
  frame: "entries";
  from: number;
  to: number;
  entries: LogEntry[];
}

/** Every live claim of a watched record: the whole state, never a diff. */
export interface ClaimsFrame {
  frame: "claims";
  /** The model, as declared. */
  model: string;
  id: string;
  claims: Claim[];
  /** The line, the next one first. */
  queue: Claim[];
}

/** One claim of this participant changed: granted, renewed, moved in its line, or ended. */
export interface ClaimFrame {
  frame: "claim";
  claim: Claim;
  /** Of one that ended: who holds its record now, as far as the reader may see the record. */
  holders?: Claim[];
}

/** Who is in a room that this session entered. The first one holds all who are there. */
export interface PresenceFrame {
  frame: "presence";
  room: string;
  joined: Peer[];
  updated: Peer[];
  /** Participants, `<kind>:<id>`. */
  left: string[];
}

export interface SchemaFrame {
  frame: "schema";
  version: number;
  hash: string;
  /** As in `welcome`, under the new schema. */
  models: string[];
}

export type ResyncReason = "trimmed" | "other_log" | "ahead" | "schema" | "scope";

/** Read a snapshot and say hello again. */
export interface Resync {
  frame: "resync";
  reason: ResyncReason;
}

export interface Pong {
  frame: "pong";
  n: number;
  stamp: number;
}

export type ErrorFrame = { frame: "error" } & ErrorEnvelope;

export type FrameDown =
  | Welcome
  | Renewed
  | Entries
  | ClaimsFrame
  | ClaimFrame
  | PresenceFrame
  | SchemaFrame
  | Resync
  | Pong
  | ErrorFrame;

/** Why the server closed a stream. 1012 is the WebSocket standard's "service restart". */
export const closeCodes = {
  badFrame: 4400,
  token: 4401,
  /** A foreign origin, or a subscription outside the token's scope. */
  forbidden: 4403,
  noHello: 4408,
  slowReader: 4409,
  tooManyFrames: 4429,
  restarting: 1012,
} as const;
