import type { CommitReceipt } from "../../protocol/commits/commit.ts";
import type { OnStale } from "../../protocol/commits/stale.ts";

export interface WriteOptions {
  /** Default `notify`: a stale write is not applied and becomes a conflict. */
  onStale?: OnStale;
  /** Default: the position of this client's rows when the write was made. */
  readAt?: number;
  /** The caller's own name for the write, for example derived from a business event. Default: generated. */
  clientTxId?: string;
  /** The lease under which the write is made. If there are several, each operation uses the one on its record. */
  claim?: LeaseRef | readonly LeaseRef[];
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

/** The parts of a lease that a write needs. */
export interface LeaseRef {
  /** The claim's id. */
  readonly id: string;
  readonly model: string;
  readonly recordId: string;
}
