import type { Action } from "../protocol/commits/operation.ts";
import type { OnStale } from "../protocol/commits/stale.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { SnapshotLine } from "../protocol/log/snapshot.ts";
import type { ResyncReason } from "../protocol/stream/frames-down.ts";
import type { WhichRows } from "./effects.ts";
import type { LogRange, PartialSnapshot, Rows, Scope } from "./log/rows.ts";
import type { Mutation, Premise, QueueChange } from "./queue/mutation.ts";
import type { Reply } from "./queue/outcome.ts";
import type { LostStore, QueueSnapshot, StorageTrouble } from "./state.ts";
import type { TabMessage } from "./tabs/tab-message.ts";

/** Everything that can happen to a client. Time and chance come in with it: the core has neither. */
export type ClientEvent = Happening & { readonly now: number; readonly roll: number };

export type Happening =
  // The store and the other tabs
  | ({
      readonly type: "restored";
      readonly clientId: string;
      readonly rows: Rows;
      readonly owner?: string | undefined;
      readonly partial?: PartialSnapshot | undefined;
    } & Omit<QueueSnapshot, "rows">)
  /** Changes of the queue that this tab asked for: what is on disk now, with its places, and what came too late. */
  | {
      readonly type: "persisted";
      readonly done: readonly QueueChange[];
      readonly refused: readonly QueueChange[];
      readonly change: number | undefined;
    }
  | ({ readonly type: "storageFailed" } & StorageTrouble)
  /** The browser was asked to keep the store whatever it needs the room for. */
  | { readonly type: "persistence"; readonly granted: boolean }
  | ({ readonly type: "storeLost" } & LostStore)
  /** What works with the disk and the server is not there yet. */
  | { readonly type: "runtimeMissing"; readonly reason: string }
  /** This tab is the one that sends. */
  | { readonly type: "elected" }
  | {
      readonly type: "leadTaken";
      readonly look: QueueSnapshot;
      /** Those of its writes that say something else in the present schema than on disk. */
      readonly brought: readonly Mutation[];
    }
  | { readonly type: "queueRead"; readonly look: QueueSnapshot; readonly rows: WhichRows }
  /** It no longer is. With a generation: the store says so of that one. */
  | { readonly type: "fenced"; readonly generation?: number }
  | { readonly type: "owned"; readonly owner: string }
  /** Claims or presence are used. */
  | { readonly type: "connectionWanted" }
  | Exclude<TabMessage, { readonly type: "answered" }>
  // The app
  | Mutated
  | { readonly type: "followed"; readonly scope: Scope }
  | { readonly type: "imported"; readonly mutations: readonly Mutation[] }
  | { readonly type: "decided"; readonly plan: Plan | undefined; readonly newTxId: string }
  | { readonly type: "paused" }
  | { readonly type: "resumed" }
  // The platform
  | { readonly type: "network"; readonly up: boolean }
  /** The page came back to the front, or the machine from sleep. */
  | { readonly type: "woke" }
  /** The page goes, or is put away. */
  | { readonly type: "hidden" }
  /** The time that `nextDueAt` named has come. */
  | { readonly type: "due"; readonly at: number }
  // The server
  | { readonly type: "answered"; readonly request: number; readonly names: readonly string[]; readonly reply: Reply }
  | { readonly type: "tokenCame"; readonly changed: boolean }
  | { readonly type: "tokenFailed"; readonly reason: string; readonly unreachable: boolean }
  /** A request other than those of the queue and the log was told so. */
  | { readonly type: "tokenRefused"; readonly reason: string }
  | { readonly type: "streamOpened" }
  | { readonly type: "streamClosed"; readonly code: number; readonly reason: string }
  | ({
      readonly type: "welcomed";
      readonly logId: string;
      readonly stamp: number;
      readonly participant: string;
      readonly session: string;
      readonly expiresInMs?: number | null | undefined;
    } & TokenFacts)
  /** The server took the next token on the open stream. */
  | ({ readonly type: "renewed"; readonly expiresInMs?: number | null | undefined } & TokenFacts)
  /** The app gave the same token again, or none. */
  | { readonly type: "notRenewed" }
  /** A schema was pushed. */
  | { readonly type: "schemaPushed"; readonly models: readonly string[] | undefined }
  | ({ readonly type: "entriesCame" } & LogRange)
  /** An answer says that the log reaches that far. */
  | { readonly type: "positionTold"; readonly position: number }
  | { readonly type: "resyncAsked"; readonly reason: ResyncReason }
  | ({
      readonly type: "logRead";
      readonly logId: string;
      readonly stamp: number;
    } & TokenFacts &
      LogRange)
  | ({
      readonly type: "snapshotRead";
      readonly logId: string;
      readonly stamp: number;
      readonly lines: readonly SnapshotLine[];
      readonly cursor: string | null;
      /** The cursor that it was asked for with. */
      readonly begin?: string | null;
      /** What was asked for. */
      readonly scope?: Scope | undefined;
    } & TokenFacts)
  | { readonly type: "pageLost" }
  | { readonly type: "readFailed"; readonly reply: Reply };

/** What the server says of the token, and of what it shows to it. An older server says less. */
export interface TokenFacts {
  readonly rowsVersion?: number | undefined;
  readonly owner?: string | undefined;
  readonly viewHash?: string | undefined;
  /** Models that are covered, of those that were asked for. */
  readonly models?: readonly string[] | undefined;
}

export interface Mutated {
  readonly type: "mutated";
  readonly clientTxId: string;
  readonly operations: readonly NewOperation[];
  readonly reads: readonly Premise[];
}

export interface NewOperation {
  readonly action: Action;
  readonly model: string;
  readonly id: string;
  readonly data?: JsonObject | undefined;
  readonly readAt?: number | undefined;
  readonly onStale: OnStale;
  readonly claim?: string | undefined;
}

/** What a person, or the app, says about a write that waits for it. */
export type Decision =
  /** `asOf`: how far the log had been read when the person was shown what is decided about here. */
  | { readonly kind: "keep-mine"; readonly asOf: number }
  | { readonly kind: "take-theirs"; readonly asOf: number }
  /** `patch` stands in for the conflicting fields of this record. */
  | {
      readonly kind: "merge";
      readonly asOf: number;
      readonly model: string;
      readonly id: string;
      readonly patch: JsonObject;
    }
  | { readonly kind: "retry" }
  | { readonly kind: "edit"; readonly operations: readonly NewOperation[] }
  | { readonly kind: "discard" };

/** What is to be done because a person decided about a write. */
export interface Plan {
  readonly write: Mutation;
  /** Takes its place under a new name: the old one belongs to the answer that it got. Undefined: the write is given up. */
  readonly instead: Mutation | undefined;
  /** Later writes with other operations; one that has none left is given up. */
  readonly again: readonly Mutation[];
}
