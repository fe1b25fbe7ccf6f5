import type { LogEntry } from "../../protocol/log/log.ts";
import type { Scope } from "../log/rows.ts";
import type { Mutation, Put, Removed } from "../queue/mutation.ts";
import type { Reply } from "../queue/outcome.ts";

/** What the tabs of a browser profile tell each other. */
export type TabMessage =
  /** These are new on disk, each at its place. `asOf`: they were found there, when the queue had been changed that often. */
  | { readonly type: "arrived"; readonly mutations: readonly Mutation[]; readonly asOf?: number }
  | QueueChanged
  | { readonly type: "answered"; readonly names: readonly string[]; readonly reply: Reply }
  /** The log as the leading tab hears it. */
  | {
      readonly type: "log";
      readonly logId: string;
      /** Under which view the leading tab heard it. */
      readonly viewHash?: string | undefined;
      readonly from: number;
      readonly to: number;
      readonly entries: readonly LogEntry[];
    }
  /** All rows were replaced on disk. `other`: by those of another log, or of one that was set back. */
  | { readonly type: "rows"; readonly other: boolean }
  /** How the leading tab stands with the server. */
  | { readonly type: "line"; readonly line: LeaderConnection }
  /** A tab is new, or heard that another one leads now: it wants to know of the line. */
  | ({ readonly type: "joined" } & Extent)
  /** It leads, under this generation of the store. */
  | { readonly type: "leading"; readonly generation?: number | undefined }
  /** These are about to be put on disk: who does not hear that they arrived may look for them there. */
  | { readonly type: "writing"; readonly clientTxIds: readonly string[] }
  /** Which records are wanted from now on, in all tabs. */
  | { readonly type: "scope"; readonly scope: Scope }
  /** The store goes, because somebody signed out for good. */
  | { readonly type: "signedOut" }
  /** A person came back to one of the tabs: what waits for its next turn need not wait. */
  | { readonly type: "hurry" };

/** A change of the queue on disk other than new writes. These are counted: each tab hears them in their order, or looks itself. */
export interface QueueChanged {
  readonly type: "changed";
  readonly change: number;
  readonly put: readonly Put[];
  readonly gone: readonly Removed[];
}

/** What the tabs without a line of their own know of the one that has it. */
export interface LeaderConnection {
  readonly name: "online" | "connecting" | "offline" | "needs-auth";
  readonly reason: string | undefined;
  readonly retryAt: number | undefined;
  readonly logId: string | undefined;
  readonly position: number | undefined;
  readonly scope: Scope;
  readonly extent: Extent;
  /** The leader's token is another owner's than the store: no tab shows anything of it. */
  readonly withheld?: boolean;
}

/** How much of the queue on disk a tab knows of: the last place, and the last other change. */
export interface Extent {
  readonly lastSeq: number;
  readonly changes: number;
}
