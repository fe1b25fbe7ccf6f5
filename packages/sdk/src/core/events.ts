import type { Attribution } from "../protocol/commits/attribution-of.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { SnapshotLine } from "../protocol/log/snapshot.ts";
import type { ResyncReason } from "../protocol/stream/frames-down.ts";
import type { WhichRows } from "./effects.ts";
import type { LogRange, PartialSnapshot, Rows, Scope } from "./log/rows.ts";
import type { Asks } from "./queue/asks.ts";
import type { Mutation, MutationOperation, Premise, QueueChange } from "./queue/mutation.ts";
import type { Reply } from "./queue/outcome.ts";
import type { ClientState, LostStore, QueueSnapshot, StorageTrouble } from "./state.ts";
import type { TabMessage } from "./tabs/tab-message.ts";

/** Everything that can happen to a client. Events carry the time and a random number, because the core is pure. */
export type ClientEvent = Happening & {
  /** The wall clock, but it is never set back, so that no wait grows longer. */
  readonly now: number;
  /** The wall clock as it is. */
  readonly wall?: number;
  /** The monotonic clock. */
  readonly lived?: number;
  readonly roll: number;
};

export type Happening =
  // The store and the other tabs
  | ({
      readonly type: "restored";
      readonly clientId: string;
      readonly storeId: string;
      readonly rows: Rows;
      readonly owner?: string | undefined;
      readonly others?: boolean | undefined;
      readonly recordBytes?: number | undefined;
      /** The owner that the app has named. */
      readonly named?: string | undefined;
      /** The owner of this tab's token, if the server has named it already. */
      readonly tokenOwner?: string | undefined;
      /** As the server said it then. */
      readonly serverTime?: string | undefined;
      /** Other tabs may use the same store. */
      readonly areShared?: boolean | undefined;
      readonly partial?: PartialSnapshot | undefined;
    } & Omit<QueueSnapshot, "rows">)
  /**
   * Results of queue changes that this tab requested: `done` are on disk, with their `seq`; `refused` came too late.
   */
  | {
      readonly type: "persisted";
      readonly done: readonly QueueChange[];
      readonly refused: readonly QueueChange[];
      readonly change: number | undefined;
    }
  | ({ readonly type: "storageFailed" } & StorageTrouble)
  /** The browser answered whether it protects the store from eviction. */
  | { readonly type: "persistence"; readonly granted: boolean }
  | ({ readonly type: "storeLost" } & LostStore)
  /** The runtime (disk, tabs and server) could not be loaded. */
  | { readonly type: "chunkMissing"; readonly reason: string }
  /** This tab became the leader. */
  | { readonly type: "elected" }
  | {
      readonly type: "leadTaken";
      readonly snapshot: QueueSnapshot;
      /** Queued writes whose upcast to the present schema differs from the stored version. */
      readonly converted: readonly Mutation[];
    }
  | { readonly type: "queueRead"; readonly snapshot: QueueSnapshot; readonly rows: WhichRows }
  /** This tab is no longer the leader. With a generation: the store refused that generation. */
  | { readonly type: "fenced"; readonly generation?: number }
  | { readonly type: "owned"; readonly owner: string }
  /** Whose store to open is not known yet. */
  | { readonly type: "choosing"; readonly name: NonNullable<ClientState["choosing"]>; readonly reason: string }
  /** The server has named the owner of this tab's token. */
  | { readonly type: "identified"; readonly owner: string; readonly serverTime?: string | undefined }
  | { readonly type: "notIdentified" }
  /** The app uses claims or presence, so this tab needs its own socket. */
  | { readonly type: "connectionWanted" }
  | Exclude<TabMessage, { readonly type: "answered" | "schema" }>
  // The app
  | Mutated
  /** `scope`: what it followed, and what it has loaded. */
  | { readonly type: "followed"; readonly scope: Scope; readonly followed: Scope }
  | { readonly type: "partsWanted"; readonly scope: Scope }
  /** The app has asked for all pending writes. */
  | { readonly type: "exported" }
  | { readonly type: "imported"; readonly mutations: readonly Mutation[] }
  | { readonly type: "decided"; readonly plan: Plan | undefined; readonly newTxId: string }
  | { readonly type: "paused" }
  | { readonly type: "resumed" }
  // The platform
  | { readonly type: "network"; readonly up: boolean }
  /** The page became visible again, or the machine woke up. */
  | { readonly type: "woke" }
  /** The page is being hidden or closed. */
  | { readonly type: "hidden" }
  /** The time that `nextDueAt` returned has come. */
  | { readonly type: "due"; readonly at: number }
  // The server
  | { readonly type: "answered"; readonly request: number; readonly names: readonly string[]; readonly reply: Reply }
  | { readonly type: "tokenReceived"; readonly changed: boolean }
  | { readonly type: "tokenFailed"; readonly reason: string; readonly unreachable: boolean }
  /** A request outside the queue and the log was refused because of its token. */
  | { readonly type: "tokenRefused"; readonly reason: string }
  | { readonly type: "streamOpened" }
  | { readonly type: "streamClosed"; readonly code: number; readonly reason: string }
  | ({
      readonly type: "welcomed";
      readonly logId: string;
      readonly stamp: number;
      readonly participant: string;
      readonly session: string;
      readonly expiresInMs: number | null;
    } & TokenFacts)
  /** The server accepted the next token on the open stream. */
  | ({ readonly type: "renewed"; readonly expiresInMs: number | null } & Omit<
      TokenFacts,
      "rowsVersion" | "recordBytes" | "serverTime"
    >)
  /** The app returned the same token again, or none. */
  | { readonly type: "notRenewed" }
  /** A schema was pushed. */
  | { readonly type: "schemaPushed"; readonly models: readonly string[] }
  | ({ readonly type: "entriesReceived" } & LogRange)
  /** The stream follows a part from this position on. 0: it was refused. */
  | { readonly type: "partAnswered"; readonly id: string; readonly position: number }
  | { readonly type: "partsLeft"; readonly ids: readonly string[] }
  /** A response shows that the log reaches this position. */
  | { readonly type: "positionKnown"; readonly position: number }
  | { readonly type: "resyncRequested"; readonly reason: ResyncReason }
  | ({
      readonly type: "logRead";
      readonly logId: string;
      readonly stamp: number;
      /** The scope of the request. */
      readonly scope: Scope;
    } & TokenFacts &
      LogRange)
  | ({
      readonly type: "snapshotRead";
      readonly logId: string;
      readonly stamp: number;
      readonly lines: readonly SnapshotLine[];
      readonly cursor: string | null;
      /** The cursor of the request. */
      readonly begin?: string | null;
      /** The scope of the request. */
      readonly scope?: Scope | undefined;
    } & TokenFacts)
  | { readonly type: "pageLost" }
  | { readonly type: "readFailed"; readonly reply: Reply };

/** What the server reports about the token and its view. */
export interface TokenFacts {
  readonly rowsVersion: number;
  readonly owner: string;
  readonly viewHash: string;
  /** The requested models that the token covers. */
  readonly models: readonly string[];
  /** Bytes of JSON that a record can have. Undefined: the server does not say it. */
  readonly recordBytes?: number | undefined;
  /** As ISO 8601. Undefined: the server does not say it, or the device has slept since it did. */
  readonly serverTime?: string | undefined;
}

export interface Mutated {
  readonly type: "mutated";
  readonly clientTxId: string;
  readonly operations: readonly NewOperation[];
  readonly reads: readonly Premise[];
  readonly attribution?: Attribution | undefined;
  readonly asks?: Asks | undefined;
}

/** An operation before the client has looked up what its writer saw. */
export interface NewOperation extends Omit<MutationOperation, "base"> {
  /** What the writer had in the written fields, if that is not what is shown. */
  readonly base?: JsonObject | null | undefined;
}

/** A decision of a person, or of the app, about a conflicted or rejected write. */
export type Decision =
  /** `asOf`: the position of the log that the person had seen when deciding. */
  | { readonly kind: "keep-mine"; readonly asOf: number }
  | { readonly kind: "take-theirs"; readonly asOf: number }
  /** `patch` replaces the conflicting fields of this record. */
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

/** The changes that follow from a decision. */
export interface Plan {
  readonly write: Mutation;
  /**
   * Takes the slot of the write under a new name, because the old name belongs to the refused commit. `lost` is that of
   * the new one. Undefined: the write is discarded.
   */
  readonly instead: Mutation | undefined;
  /** Later writes with changed operations. A write without operations left is discarded. */
  readonly again: readonly Mutation[];
}
