import type { RecordRef } from "./core/log/tables.ts";
import { type Failure, type LocalErrorCode, type LossReason, localFailure } from "./core/queue/failure.ts";
import type { Claim } from "./protocol/claims/claim.ts";
import type { CommitReceipt } from "./protocol/commits/commit.ts";
import type { RequiredCapability, SourceRefusal } from "./protocol/errors/error.ts";
import type { ErrorCode, ErrorType, InvalidCode, Remedy } from "./protocol/errors/error-codes.ts";

/**
 * The error class of this package. `code` identifies the problem, `then` says what to do, and the message is for
 * people.
 */
export class SyncError extends Error {
  override readonly name = "SyncError";
  declare readonly code: ErrorCode | LocalErrorCode | (string & {});
  declare readonly type: ErrorType | "client_error";
  declare readonly then: Remedy;
  declare readonly status: number | undefined;
  declare readonly requestId: string | undefined;
  declare readonly docUrl: string | undefined;
  /** The field, model or operation that caused the error. */
  declare readonly param: string | undefined;
  /** For a write that the server refused or found in conflict. */
  declare readonly receipt: CommitReceipt | undefined;
  /** For a denied write: the missing capability. */
  declare readonly requiredCapability: RequiredCapability | undefined;
  /** For `claim_conflict` and `claim_lost`: the holders of the record. */
  declare readonly claims: readonly Claim[] | undefined;
  /** For `rule_broken`: the option of the field, such as `maxLength`. */
  declare readonly rule: string | undefined;
  /** For `not_unique`: the fields whose values count together. */
  declare readonly fields: readonly string[] | undefined;
  /**
   * For `not_unique`: the record that has the value. For `still_referenced`: some of those that reference the record.
   * Only records that this client may read.
   */
  declare readonly records: readonly RecordRef[] | undefined;
  /** For `source_refused`: what the database that has the rows says. */
  declare readonly source: SourceRefusal | undefined;
  /** For a lost lease: the cause. */
  declare readonly reason: LossReason | undefined;

  constructor(failure: Failure, options?: { cause?: unknown }) {
    super(failure.message, options);
    Object.assign(this, failure);
  }
}

export const isSyncError = (error: unknown): error is SyncError => error instanceof SyncError;

/** An error that the client detected. */
export const localError = (code: LocalErrorCode, message: string): SyncError =>
  new SyncError(localFailure(code, message));

/** What the server would say of a write or a query that the client refuses. It does not need the table of codes. */
export const invalid = (code: InvalidCode, message: string, param: string, rule?: string): SyncError =>
  new SyncError({ code, type: "validation_error", status: 400, then: "fix", message, param, rule });

/** A value that cannot be meant so. `param` says where. */
export const odd = (param: string, message: string): SyncError => invalid("invalid_value", message, param);

/* The errors of the app's own code. They are here because a chunk of their own would cost more than they weigh. */

/** Calls a listener of the app. If it throws, the error is reported globally and does not stop the client. */
export function notifyApp<Args extends readonly unknown[]>(listener: (...args: Args) => void, ...args: Args): void {
  try {
    listener(...args);
  } catch (error) {
    reportToApp(error);
  }
}

/** Reports an error of the app like one in an event listener. Node has no `reportError`. */
export function reportToApp(error: unknown): void {
  if (typeof reportError === "function") reportError(error);
  else console.error(error);
}
