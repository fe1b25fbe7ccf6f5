import type { ErrorEnvelope } from "./error.ts";
import type { LogEntry } from "./log.ts";

/** The client was heard; entries after `resumeFrom` follow. */
export interface Welcome {
  frame: "welcome";
  /** Head of the log now. */
  stamp: number;
  logId: string;
  session: string;
  /** `<participantKind>:<participantId>` */
  participant: string;
  protocol: string;
  resumeFrom: number;
  expiresAt: string | null;
  schema: { version: number; hash: string } | null;
}

/** Covers every position in (from, to]; what the reader may not see, or did not follow, is left out. */
export interface Entries {
  frame: "entries";
  from: number;
  to: number;
  entries: LogEntry[];
}

export interface SchemaFrame {
  frame: "schema";
  version: number;
  hash: string;
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

export type FrameDown = Welcome | Entries | SchemaFrame | Resync | Pong | ErrorFrame;

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
