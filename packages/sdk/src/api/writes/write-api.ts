import type { CommitReceipt } from "../../protocol/commits/commit.ts";
import type { OnStale } from "../../protocol/commits/stale.ts";

export interface WriteOptions {
  /** Default `notify`: a stale write is held and becomes a conflict. */
  onStale?: OnStale;
  /** Default: how far this client's rows had read when the write was made. */
  readAt?: number;
  /** The caller's own name for the write, for instance derived from a business event; default: made. */
  clientTxId?: string;
  /** The lease that the write is made under; of several, each operation takes the one on its record. */
  claim?: LeaseRef | readonly LeaseRef[];
}

/** What a write answers at once. */
export interface Write {
  /** The record's id; for `commit`, the first operation's. */
  readonly id: string;
  readonly clientTxId: string;
  /** Resolves when the write is on disk and survives a reload. */
  readonly queued: Promise<void>;
  /** Resolves with the confirmed receipt; rejects with a `SyncError` when the write was refused, held or discarded. */
  readonly receipt: Promise<CommitReceipt>;
}

/** What a write needs to know of the lease that it is made under. */
export interface LeaseRef {
  /** The claim's id. */
  readonly id: string;
  readonly model: string;
  readonly recordId: string;
}
