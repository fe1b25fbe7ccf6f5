import type { Propose } from "../../protocol/changes/propose.ts";
import type { Action } from "../../protocol/commits/action.ts";
import type { CommitReceipt } from "../../protocol/commits/commit.ts";
import type { FieldChanges } from "../../protocol/commits/field-change.ts";
import type { OnStale } from "../../protocol/commits/stale.ts";
import type { JsonObject } from "../../protocol/json.ts";

/** Why a write is made, for people and audits: kept with it offline, and in its log entries afterwards. */
export interface AttributionOptions {
  /** Why, in a sentence for people, up to 1 000 characters. */
  readonly reason?: string | undefined;
  /** What the author is doing, by its own name, up to 255 characters: all that an agent changes for one request has the same one. */
  readonly run?: string | undefined;
  /** For whom, as `user:ann`. The token has to name them in its `onBehalfOf`, else the write is refused. */
  readonly onBehalfOf?: string | undefined;
  /** Notes of your own, up to 4 KiB of JSON. */
  readonly meta?: JsonObject | undefined;
}

export interface WriteOptions extends AttributionOptions {
  /** Default `notify`: a stale write is not applied and becomes a conflict. */
  onStale?: OnStale | undefined;
  /** Default: the position of this client's rows when the write was made. */
  readAt?: number | undefined;
  /** The caller's own name for the write, for example derived from a business event. Default: generated. */
  clientTxId?: string | undefined;
  /**
   * Asks for the write instead of making it: it is shown when it is accepted, and its receipt has the proposal's id. A
   * token that may only propose always asks.
   */
  propose?: Propose | undefined;
  /** The lease under which the write is made. If there are several, each operation uses the one on its record. */
  claim?: LeaseRef | readonly LeaseRef[] | undefined;
}

export interface UpdateOptions extends WriteOptions {
  /**
   * The values of the written fields from which the new ones were made, if they are not the ones shown now: a form that
   * was opened earlier gives them together with `readAt`. A conflict shows them, and texts are merged from them.
   */
  base?: JsonObject | undefined;
}

/** The immediate result of a write. */
export interface Write {
  /** The record's id; for `commit`, the id of the first operation. */
  readonly id: string;
  readonly clientTxId: string;
  /** Resolves when the write is on disk and survives a reload. */
  readonly queued: Promise<void>;
  /**
   * Resolves with the confirmed receipt. Rejects with a `SyncError` if the write was refused, conflicted or discarded.
   */
  readonly receipt: Promise<CommitReceipt>;
}

/** The immediate result of a write that is not a decision about an earlier one. */
export interface UndoableWrite extends Write {
  /**
   * Makes what this write has changed as it was before, with a write of its own: it can conflict, and be undone, like any
   * other. What others have changed in other fields stays. Undefined if there is nothing to undo, for example because
   * the write was refused.
   */
  undo(options?: WriteOptions): UndoableWrite | undefined;
}

/** The parts of a lease that a write needs. */
export interface LeaseRef {
  /** The claim's id. */
  readonly id: string;
  readonly model: string;
  readonly recordId: string;
}

/** An operation as the app gives it. */
export interface OperationRequest {
  readonly action: Action;
  readonly model: string;
  readonly id?: string | undefined;
  /** Values, and for an update also what `increment`, `add` and `remove` return. */
  readonly data?: object | undefined;
  /** The same changes, as a stored write has them. */
  readonly changes?: FieldChanges | undefined;
  readonly base?: JsonObject | undefined;
}
