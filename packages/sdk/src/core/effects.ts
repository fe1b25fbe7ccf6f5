import type { CommitReceipt } from "../protocol/commits/commit.ts";
import type { RowChange, Scope } from "./log/rows.ts";
import type { Failure } from "./queue/failure.ts";
import type { Mutation, QueueChange, Removed } from "./queue/mutation.ts";
import type { TabMessage } from "./tabs/tab-message.ts";

/** Everything the core can ask of the world. */
export type Effect =
  /** Change the queue on disk, durably: `persisted` comes back. */
  | { readonly do: "persist"; readonly changes: readonly QueueChange[] }
  /** Keep what became of writes that are on disk. One that is no longer there stays away. */
  | { readonly do: "keep"; readonly mutations: readonly Mutation[]; readonly generation: number }
  /** Take settled writes off the disk. */
  | { readonly do: "forget"; readonly settled: readonly Removed[]; readonly generation: number }
  /** Keep what was read of the log, and take off what it settled, together. */
  | {
      readonly do: "keepRows";
      readonly logId: string;
      readonly from: number;
      readonly to: number;
      readonly changes: readonly RowChange[];
      readonly settled: readonly Removed[];
      readonly generation: number;
    }
  /** Keep all rows anew. `other`: they are of another log than those that are kept. */
  | {
      readonly do: "keepSnapshot";
      readonly settled: readonly Removed[];
      readonly generation: number;
      readonly other: boolean;
    }
  /** Count the store's generation up and look what is on disk: `tookLead` comes back. */
  | { readonly do: "takeLead" }
  /** Read what is on disk again: `looked` comes back. */
  | { readonly do: "readQueue"; readonly rows: WhichRows }
  /** Be in line for the lead, from its end on; or leave it to the others. */
  | { readonly do: "campaign"; readonly wanted: boolean }
  /** Make the store this owner's, if it is nobody's yet, or still that of `instead`: `owned` comes back. */
  | { readonly do: "own"; readonly owner: string; readonly instead?: string }
  /** Ask the app for the next token and say it on the stream: `renewed` comes back, or `notRenewed`. */
  | { readonly do: "renewToken" }
  /** Tell the other tabs. */
  | { readonly do: "post"; readonly message: TabMessage }
  | { readonly do: "send"; readonly request: number; readonly names: readonly string[]; readonly body: string }
  /** Keep a page of a first snapshot. */
  | { readonly do: "keepPage"; readonly page: SnapshotPage; readonly generation: number }
  /** Read a page of a snapshot: the first one, or the one that begins there. */
  | { readonly do: "readSnapshot"; readonly cursor: string | null; readonly scope: Scope; readonly limit: number }
  | { readonly do: "readLog"; readonly after: number; readonly scope: Scope; readonly limit: number }
  | { readonly do: "openStream" }
  | { readonly do: "closeStream" }
  | {
      readonly do: "sayHello";
      readonly logId: string;
      readonly since: number;
      readonly scope: Scope;
      readonly view: string | undefined;
    }
  /** Give up every request that is under way. */
  | { readonly do: "abort" }
  | { readonly do: "askToken" }
  | { readonly do: "notify"; readonly clientTxId: string; readonly news: News }
  /** Writes may have left the queue without a word: of those that somebody here waits for the server is asked. */
  | { readonly do: "lookUpOutcomes" };

/** Which rows are wanted: those that have read further than the ones here, or all. `other`: all, for the ones here are void. */
export type WhichRows = "further" | "all" | "other";

export interface SnapshotPage {
  readonly logId: string;
  readonly rowsVersion?: number | undefined;
  readonly viewHash?: string | undefined;
  readonly stamp: number;
  /** Where it begins; undefined: it is the first. */
  readonly begin: string | undefined;
  readonly changes: readonly RowChange[];
  readonly scope?: string | undefined;
  /** Where the next page begins; null: there is none, and the rows are whole. */
  readonly cursor: string | null;
}

/** What the one who made a write is told about it. */
export type News =
  | { readonly kind: "queued" }
  | { readonly kind: "not-durable"; readonly failure: Failure }
  | { readonly kind: "confirmed"; readonly receipt: CommitReceipt }
  | { readonly kind: "failed"; readonly failure: Failure }
  /** It goes on under another name. */
  | { readonly kind: "renamed"; readonly to: string };
