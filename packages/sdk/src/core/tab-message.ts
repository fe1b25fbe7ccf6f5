import type { LogEntry } from "../protocol/log.ts";
import type { Mutation } from "./mutation.ts";
import type { Reply } from "./outcome.ts";
import type { Scope } from "./rows.ts";

/** What the tabs of a browser profile tell each other. */
export type TabMessage =
  /** These are on disk, each at its place. */
  | { readonly type: "arrived"; readonly mutations: readonly Mutation[] }
  /** A person gave these up. */
  | { readonly type: "gone"; readonly clientTxIds: readonly string[] }
  | { readonly type: "answered"; readonly names: readonly string[]; readonly reply: Reply }
  /** The log as the leading tab hears it. */
  | {
      readonly type: "log";
      readonly logId: string;
      readonly from: number;
      readonly to: number;
      readonly entries: readonly LogEntry[];
    }
  /** All rows were replaced on disk. */
  | { readonly type: "rows" }
  /** How the leading tab stands with the server. */
  | { readonly type: "line"; readonly line: LeaderLine }
  /** All that the leading tab knows to be in the queue, and what it knows of those that have an answer. */
  | {
      readonly type: "queue";
      readonly seqs: readonly number[];
      readonly answered: readonly Mutation[];
      /** It has heard of every place up to this one. */
      readonly lastSeq: number;
      /** How far its rows have read: what it has settled lies before that. */
      readonly logId: string | undefined;
      readonly position: number | undefined;
    }
  /** A tab is new, or heard that another one leads now: it wants to know of the line. */
  | { readonly type: "joined" }
  | { readonly type: "leading" }
  /** These are about to be put on disk: who does not hear that they arrived may look for them there. */
  | { readonly type: "writing"; readonly clientTxIds: readonly string[] }
  /** Which records are wanted from now on, in all tabs. */
  | { readonly type: "scope"; readonly scope: Scope }
  /** The store goes, because somebody signed out for good. */
  | { readonly type: "signedOut" }
  /** A person came back to one of the tabs: what waits for its next turn need not wait. */
  | { readonly type: "hurry" };

/** What the tabs without a line of their own know of the one that has it. */
export interface LeaderLine {
  readonly name: "online" | "connecting" | "offline" | "needs-auth";
  readonly reason: string | undefined;
  readonly retryAt: number | undefined;
  readonly logId: string | undefined;
  readonly position: number | undefined;
  readonly scope: Scope;
}
