import type { Claim, ClaimStatus } from "../../protocol/claims/claim.ts";
import type { CommitReceipt } from "../../protocol/commits/commit.ts";
import type { RequiredCapability } from "../../protocol/errors/error.ts";
import {
  type ErrorCode,
  type ErrorType,
  errorCodes,
  isErrorCode,
  type Remedy,
} from "../../protocol/errors/error-codes.ts";

/** Error codes that only the client produces. */
const localCodes = {
  client_closed: ["fix", "The client was closed before this was settled. Queued writes stay queued."],
  timed_out: ["wait", "The operation timed out. The writes stay queued."],
  discarded: ["fix", "The write was dropped: its conflict was resolved with takeTheirs, or it was discarded."],
  too_old: [
    "fix",
    "The write has waited so long that the server may have forgotten it. Check the current record first.",
  ],
  // The code that detects one of these failures adds a more specific message.
  storage_failed: ["fix", "The write is in memory only."],
  part_not_loaded: ["retry", "A chunk of this package could not be loaded."],
  schema_changed: ["fix", "Another version of the app made this write."],
  not_owner: ["sign-in", "The token and the store belong to different participants."],
  invalid_export: ["fix", "This is not an export."],
  invalid_options: ["fix", "The options are invalid."],
} as const satisfies Record<string, readonly [Remedy, string]>;
export type LocalErrorCode = keyof typeof localCodes;

/** Why a lease ended that its user did not release. */
export type LossReason =
  /** The renewal was not answered in time. */
  | "deadline"
  /** How the claim ended on the server. */
  | Exclude<ClaimStatus, "active" | "queued">
  /** The server no longer lists this participant as the holder. */
  | "refused"
  | "revoked"
  /** The page was hidden, and the lease was released so that other participants do not wait for it. */
  | "hidden"
  | "closed";

/** An error as plain data: the content of a `SyncError`, stored with a rejected write across reloads. */
export interface Failure {
  readonly code: ErrorCode | LocalErrorCode | (string & {});
  readonly type: ErrorType | "client_error";
  readonly then: Remedy;
  readonly message: string;
  readonly status?: number | undefined;
  readonly param?: string | undefined;
  readonly docUrl?: string | undefined;
  readonly requestId?: string | undefined;
  readonly requiredCapability?: RequiredCapability | undefined;
  readonly receipt?: CommitReceipt | undefined;
  readonly claims?: readonly Claim[] | undefined;
  readonly reason?: LossReason | undefined;
}

export function localFailure(code: LocalErrorCode, message?: string): Failure {
  const [then, says] = localCodes[code];
  return { code, type: "client_error", then, message: message ?? says };
}

/** Creates a failure with one of the server's error codes, even if the client detected it. */
export function knownFailure(code: ErrorCode, message: string, more: Partial<Failure> = {}): Failure {
  return { code, ...errorCodes[code], message, ...more };
}

/** The `clientTxId` belongs to another write in the queue. */
export const nameTaken = (clientTxId: string): Failure =>
  knownFailure("idempotency_conflict", `The clientTxId ${clientTxId} is already in the queue.`, {
    param: "clientTxId",
  });

/** Parses an error body without trusting its shape. Undefined: it is not an error body of this server. */
export function readFailure(value: unknown, status: number): Failure | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const body = value as Record<string, unknown>;
  if (typeof body.code !== "string" || typeof body.type !== "string") return undefined;
  const text = (key: string) => (typeof body[key] === "string" ? (body[key] as string) : undefined);
  const code = body.code;
  return {
    code,
    type: body.type as ErrorType,
    then: isErrorCode(code) ? errorCodes[code].then : remedyOf(status),
    message: text("message") ?? code,
    status,
    param: text("param"),
    docUrl: text("doc_url"),
    requestId: text("request_id"),
    requiredCapability: body.requiredCapability as RequiredCapability | undefined,
    receipt: body.receipt as CommitReceipt | undefined,
    claims: Array.isArray(body.claims) ? (body.claims as Claim[]) : undefined,
  };
}

/** Derives the remedy from the status, for codes of a newer server. */
function remedyOf(status: number): Remedy {
  if (status === 401) return "sign-in";
  if (status === 408 || status === 425 || status >= 500) return "retry";
  if (status === 429) return "wait";
  return "fix";
}
