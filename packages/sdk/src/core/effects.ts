import type { CommitReceipt } from "../protocol/commit.ts";
import type { Failure } from "./failure.ts";
import type { Mutation } from "./mutation.ts";
import type { RowChange, Rows } from "./rows.ts";

/** Everything the core can ask of the world. */
export type Effect =
  /** Put writes on disk, durably: `persisted` comes back. With a `seq` they take that place, else a new one. */
  | { readonly do: "persist"; readonly mutations: readonly Mutation[] }
  /** Keep what became of writes that are on disk. One that is no longer there stays away. */
  | { readonly do: "keep"; readonly mutations: readonly Mutation[] }
  /** Take writes off the disk. `clientTxIds`: what was given up, to be announced to the other tabs; what settles they see themselves. */
  | { readonly do: "forget"; readonly seqs: readonly number[]; readonly clientTxIds: readonly string[] }
  /** Keep what was read of the log, and take off what it settled, together. */
  | {
      readonly do: "keepRows";
      readonly logId: string;
      readonly from: number;
      readonly to: number;
      readonly changes: readonly RowChange[];
      readonly settled: readonly number[];
    }
  | { readonly do: "keepSnapshot"; readonly rows: Rows; readonly settled: readonly number[] }
  | { readonly do: "readQueue" }
  | { readonly do: "send"; readonly request: number; readonly names: readonly string[]; readonly body: string }
  | { readonly do: "readSnapshot" }
  | { readonly do: "readLog"; readonly after: number }
  | { readonly do: "openStream" }
  | { readonly do: "closeStream" }
  | { readonly do: "sayHello"; readonly logId: string; readonly since: number }
  /** Give up every request that is under way. */
  | { readonly do: "abort" }
  | { readonly do: "askToken" }
  | { readonly do: "tell"; readonly clientTxId: string; readonly news: News };

/** What the one who made a write is told about it. */
export type News =
  | { readonly kind: "queued" }
  | { readonly kind: "not-durable"; readonly failure: Failure }
  | { readonly kind: "confirmed"; readonly receipt: CommitReceipt }
  | { readonly kind: "failed"; readonly failure: Failure }
  /** It goes on under another name. */
  | { readonly kind: "renamed"; readonly to: string };
