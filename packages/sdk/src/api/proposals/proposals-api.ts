import type { Proposal, ProposalStatus } from "../../protocol/changes/proposal.ts";
import type { OnStale } from "../../protocol/commits/stale.ts";
import type { UndoableWrite, Write } from "../writes/write-api.ts";

/** Which proposals: without anything, all open ones that the token may read. */
export interface ProposalQuery {
  readonly model?: string | undefined;
  /** Of one record; needs `model`. */
  readonly id?: string | undefined;
  /** `<participantKind>:<participantId>` */
  readonly author?: string | undefined;
  readonly run?: string | undefined;
  readonly branch?: string | undefined;
  /** Default `open`. */
  readonly status?: ProposalStatus | "all" | undefined;
  /** Up to 100; default 100. */
  readonly limit?: number | undefined;
}

export interface AcceptOptions {
  /** Which operations, by their place from 0, and which of their fields. Default: all. What is not taken is dropped. */
  readonly take?:
    | readonly { readonly operation: number; readonly fields?: readonly string[] | undefined }[]
    | undefined;
  /** Values of the reviewer's own instead of those that were proposed: by operation, by field. */
  readonly values?: Readonly<Record<number, Readonly<Record<string, unknown>>>> | undefined;
  /** A word to the author. */
  readonly reason?: string | undefined;
  /** Default `notify`: if others changed the same fields since it was proposed, it becomes a conflict. */
  readonly onStale?: OnStale | undefined;
  readonly clientTxId?: string | undefined;
}

export interface ProposalsApi {
  /** Reads proposals from the server, oldest first. Rejects with a `SyncError` if it cannot be reached. */
  list(query?: ProposalQuery): Promise<readonly Proposal[]>;
  get(id: string): Promise<Proposal>;
  /**
   * Calls the listener with the proposals, and again whenever they change; without a connection, with those that were
   * read last. Those that this client has decided are left out at once. Returns a function that ends that.
   */
  subscribe(query: ProposalQuery, listener: (proposals: readonly Proposal[]) => void): () => void;
  /** Writes the proposal, or a part of it, as this client's participant. Queued like any write, also without a connection. */
  accept(proposal: Proposal, options?: AcceptOptions): UndoableWrite;
  /** Queued like a write, also without a connection. */
  reject(proposal: Proposal, options?: { readonly reason?: string | undefined }): Write;
  /** Takes back a proposal of one's own. Rejects with a `SyncError` if the server cannot be reached. */
  withdraw(proposal: Pick<Proposal, "id">, options?: { readonly reason?: string | undefined }): Promise<Proposal>;
}
