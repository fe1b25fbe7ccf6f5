import type { CommitReceipt } from "../protocol/commit.ts";
import type { Failure } from "./failure.ts";
import type { Mutation, Place } from "./mutation.ts";
import type { RowChange, Scope } from "./rows.ts";
import type { TabMessage } from "./tab-message.ts";

/** Everything the core can ask of the world. */
export type Effect =
  /** Put writes on disk, durably: `persisted` comes back. With a `seq` they take that place, else a new one. */
  | { readonly do: "persist"; readonly mutations: readonly Mutation[] }
  /** Keep what became of writes that are on disk. One that is no longer there stays away. */
  | { readonly do: "keep"; readonly mutations: readonly Mutation[]; readonly generation: number }
  /** Take writes off the disk. Without a generation: because a person said so. */
  | { readonly do: "forget"; readonly places: readonly Place[]; readonly generation: number | undefined }
  /** Keep what was read of the log, and take off what it settled, together. */
  | {
      readonly do: "keepRows";
      readonly logId: string;
      readonly from: number;
      readonly to: number;
      readonly changes: readonly RowChange[];
      readonly settled: readonly Place[];
      readonly generation: number;
    }
  | { readonly do: "keepSnapshot"; readonly settled: readonly Place[]; readonly generation: number }
  /** Count the store's generation up and read the queue: `tookLead` comes back. */
  | { readonly do: "takeLead" }
  /** Be in line for the lead, from its end on; or leave it to the others. */
  | { readonly do: "stand"; readonly wanted: boolean }
  | { readonly do: "readRows" }
  /** Make the store somebody's: `owned` comes back. */
  | { readonly do: "own"; readonly participant: string }
  /** Tell the other tabs. */
  | { readonly do: "post"; readonly message: TabMessage }
  | { readonly do: "send"; readonly request: number; readonly names: readonly string[]; readonly body: string }
  /** Keep a page of a first snapshot. */
  | { readonly do: "keepPage"; readonly page: SnapshotPage; readonly generation: number }
  /** Read a page of a snapshot: the first one, or the one that begins there. */
  | { readonly do: "readSnapshot"; readonly cursor: string | null; readonly scope: Scope }
  | { readonly do: "readLog"; readonly after: number; readonly scope: Scope }
  | { readonly do: "openStream" }
  | { readonly do: "closeStream" }
  | { readonly do: "sayHello"; readonly logId: string; readonly since: number; readonly scope: Scope }
  /** Give up every request that is under way. */
  | { readonly do: "abort" }
  | { readonly do: "askToken" }
  | { readonly do: "tell"; readonly clientTxId: string; readonly news: News };

export interface SnapshotPage {
  readonly logId: string;
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
