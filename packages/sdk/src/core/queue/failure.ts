import type { Claim, ClaimStatus } from "../../protocol/claims/claim.ts";
import type { CommitReceipt } from "../../protocol/commits/commit.ts";
import type { RequiredCapability, SourceRefusal } from "../../protocol/errors/error.ts";
import type { ErrorCode, ErrorType, Remedy } from "../../protocol/errors/error-codes.ts";
import type { RecordRef } from "../log/tables.ts";

/** Error codes that only the client produces. */
const localCodes = {
  client_closed: "fix",
  timed_out: "wait",
  discarded: "fix",
  too_old: "fix",
  storage_failed: "fix",
  part_not_loaded: "retry",
  schema_changed: "fix",
  unowned: "fix",
  other_owner: "fix",
  not_owner: "sign-in",
  invalid_export: "fix",
  invalid_options: "fix",
} as const satisfies Record<string, Remedy>;
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
  readonly rule?: string | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly records?: readonly RecordRef[] | undefined;
  readonly source?: SourceRefusal | undefined;
  readonly reason?: LossReason | undefined;
}

export const localFailure = (code: LocalErrorCode, message: string): Failure => ({
  ...{ code, type: "client_error", then: localCodes[code], message },
});

export const CLOSED = localFailure(
  "client_closed",
  "The client was closed before this was settled. Queued writes stay queued.",
);

/** The `clientTxId` belongs to another write in the queue. */
export const nameTaken = (clientTxId: string): Failure => ({
  code: "idempotency_conflict",
  type: "idempotency_error",
  status: 409,
  then: "fix",
  message: `The clientTxId ${clientTxId} is already in the queue.`,
  param: "clientTxId",
});
