import type { CommitReceipt } from "../protocol/commits/commit.ts";
import type { FrameUp } from "../protocol/stream/frames-up.ts";
import type { Part } from "../protocol/stream/part-frames.ts";
import type { RowChange, Scope } from "./log/rows.ts";
import type { Failure } from "./queue/failure.ts";
import type { Mutation, QueueChange, Removed } from "./queue/mutation.ts";
import type { TabMessage } from "./tabs/tab-message.ts";

/** Everything that the core can request from disk, tabs, server and app. */
export type Effect =
  /** Changes the queue on disk durably. Results in `persisted`. */
  | { readonly do: "persist"; readonly changes: readonly QueueChange[] }
  /** Stores the stages of writes that are on disk. A write that has left the disk is not stored again. */
  | { readonly do: "keep"; readonly mutations: readonly Mutation[]; readonly generation: number }
  /** Deletes settled writes from disk. */
  | { readonly do: "forget"; readonly settled: readonly Removed[]; readonly generation: number }
  /** Stores a range of the log and deletes the writes that it settled, in one transaction. */
  | {
      readonly do: "keepRows";
      readonly logId: string;
      /** The scope of the rows on disk, if it changes: the changes bring the rows of more parts. */
      readonly was?: Scope;
      readonly from: number;
      readonly to: number;
      readonly changes: readonly RowChange[];
      readonly settled: readonly Removed[];
      readonly generation: number;
    }
  /** Replaces all stored rows. `other`: they belong to another log than the stored ones. */
  | {
      readonly do: "keepSnapshot";
      readonly settled: readonly Removed[];
      readonly generation: number;
      readonly other: boolean;
    }
  /** Raises the store's generation and reads a queue snapshot. Results in `leadTaken`. */
  | { readonly do: "takeLead" }
  /** Reloads the queue from disk. Results in `queueRead`. */
  | { readonly do: "readQueue"; readonly rows: WhichRows }
  /** Enters the election, behind the other candidates, or leaves it. */
  | { readonly do: "campaign"; readonly wanted: boolean }
  /** Makes the store this owner's if it has no owner yet, or if its owner is `instead`. Results in `owned`. */
  | { readonly do: "own"; readonly owner: string; readonly instead?: string }
  /** Stores how large the server lets records be. */
  | { readonly do: "keepRecordBytes"; readonly recordBytes: number | undefined }
  /** Asks the server for the owner of this tab's token; `fresh`: of the next token. Results in `identified` or `notIdentified`. */
  | { readonly do: "askOwner"; readonly fresh: boolean }
  /** Requests the next token from the app and sends it on the stream. Results in `renewed` or `notRenewed`. */
  | { readonly do: "renewToken" }
  /** Sends a message to the other tabs. */
  | { readonly do: "post"; readonly message: TabMessage }
  | {
      readonly do: "send";
      readonly request: number;
      readonly names: readonly string[];
      readonly body: string;
      /** Those of them that the disk still has as unsent: they are stored as sent first. */
      readonly first: readonly Mutation[];
      readonly generation: number | undefined;
    }
  /** Stores a page of a first snapshot. */
  | { readonly do: "keepPage"; readonly page: StoredSnapshotPage; readonly generation: number }
  /** Reads a page of a snapshot: the first one, or the one at the cursor. */
  | { readonly do: "readSnapshot"; readonly cursor: string | null; readonly scope: Scope; readonly limit: number }
  | { readonly do: "readLog"; readonly after: number; readonly scope: Scope; readonly limit: number }
  | { readonly do: "sendFrame"; readonly frame: FrameUp }
  | { readonly do: "openStream" }
  | { readonly do: "closeStream" }
  | {
      readonly do: "sendHello";
      readonly logId: string;
      readonly since: number;
      readonly scope: Scope;
      /** In place of the scope's models and conditions. */
      readonly parts: readonly Part[] | undefined;
      /** Others are named after `welcome`. */
      readonly more: boolean;
      readonly view: string | undefined;
    }
  /** Aborts every request in flight. */
  | { readonly do: "abort" }
  | { readonly do: "requestToken" }
  | { readonly do: "notify"; readonly clientTxId: string; readonly news: News }
  /** Writes may have left the queue without a message. Ask the server about every write that a caller still awaits. */
  | { readonly do: "lookUpOutcomes" };

/**
 * Which rows to read: only those that have read further than the ones here, or all. `other`: all, and the rows here are
 * invalid.
 */
export type WhichRows = "further" | "all" | "other";

export interface StoredSnapshotPage {
  readonly logId: string;
  readonly rowsVersion?: number | undefined;
  readonly viewHash?: string | undefined;
  readonly stamp: number;
  /** Where the page begins; undefined for the first page. */
  readonly begin: string | undefined;
  readonly changes: readonly RowChange[];
  readonly scope?: Scope | undefined;
  readonly at?: number | undefined;
  /** Where the next page begins; null after the last page. */
  readonly cursor: string | null;
}

/** What a caller is notified of about its write. */
export type News =
  | { readonly kind: "queued" }
  | { readonly kind: "not-durable"; readonly failure: Failure }
  | { readonly kind: "confirmed"; readonly receipt: CommitReceipt }
  | { readonly kind: "failed"; readonly failure: Failure }
  /** The write continues under another name. */
  | { readonly kind: "renamed"; readonly to: string };
