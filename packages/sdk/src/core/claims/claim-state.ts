import type { Claim, ClaimBody } from "../../protocol/claims/claim.ts";
import type { Wait } from "../connection/retry.ts";
import { recordKey } from "../log/tables.ts";
import type { Failure, LossReason } from "../queue/failure.ts";

/* What a client has, or asks for, of claims: what happens to it is decided in claims.ts. */

/** A moment on two clocks. `at` only goes forward, and may stand still while the machine sleeps; `wall` goes on then. */
export interface Instant {
  readonly at: number;
  readonly wall: number;
}

export interface Target {
  readonly model: string;
  readonly id: string;
  readonly field?: string | undefined;
}

export const targetKey = (target: Target): string => `${recordKey(target)}#${target.field ?? ""}`;

/** What is asked of the server; the rest of a claim's options concern this side. */
export type Terms = Pick<ClaimBody, "action" | "ttl" | "description" | "meta" | "preempt">;

/** Somebody in the app who wants the claim. Several share one, as the server sees one participant. */
export interface User {
  readonly lease: string;
  readonly terms: Terms;
  readonly queue: boolean;
  /** Whether it was told that the claim is there. */
  readonly has: boolean;
}

export interface Hold {
  readonly target: Target;
  readonly users: readonly User[];
  readonly stage: HoldStage;
  readonly flight: Flight | undefined;
  readonly wait: Wait | undefined;
  /** What the stream said of it last, which may come before the answer that it belongs to. */
  readonly told: Claim | undefined;
}

/** What is still to be read before the app is told of a grant. */
export interface Unread {
  /** How far the log reached when the claim was granted. */
  readonly syncId: number;
  /** When the log is asked for what the stream has not brought; undefined: it was asked. */
  readonly askAt: number | undefined;
  /** When the app is told in any case. */
  readonly until: number;
}

export type HoldStage =
  /** `asked`: the server may know of it. */
  | { readonly phase: "asking"; readonly asked: boolean }
  | {
      readonly phase: "waiting";
      readonly claimId: string;
      readonly position: number | undefined;
      readonly granted: boolean;
      readonly checkAt: number;
    }
  | {
      readonly phase: "held";
      readonly claimId: string;
      readonly fence: number;
      readonly sent: Instant;
      readonly ttlMs: number;
      /** The app is not told of the grant yet: the rows here are older than it. */
      readonly unread: Unread | undefined;
      /** Something happened that makes it doubtful: it is asked now, not when it is due. */
      readonly check: boolean;
    }
  | {
      readonly phase: "leaving";
      readonly claimId: string | undefined;
      readonly until: number;
      /** Those who wait to be told that it is released. */
      readonly left: readonly string[];
    };

export type Asking = "acquire" | "renew" | "poll" | "release";

export interface Flight {
  readonly n: number;
  readonly what: Asking;
  /** Whether it asked to wait in the line. */
  readonly queue: boolean;
  readonly sent: Instant;
}

export type ClaimNews =
  | { readonly kind: "granted"; readonly claimId: string; readonly fence: number }
  | { readonly kind: "position"; readonly position: number | undefined }
  /** `holders`: who holds the record now, where the server said so. */
  | { readonly kind: "lost"; readonly reason: LossReason; readonly holders?: readonly Claim[] | undefined }
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "released" };

export type ClaimEffect =
  | {
      readonly do: "request";
      readonly key: string;
      readonly n: number;
      readonly what: Asking;
      readonly target: Target;
      readonly claimId: string | undefined;
      readonly body?: ClaimBody | undefined;
      readonly timeoutMs: number;
      readonly keepalive?: boolean;
    }
  /** Gives up a request that is under way. */
  | { readonly do: "drop"; readonly key: string; readonly n: number }
  | { readonly do: "tellLease"; readonly lease: string; readonly news: ClaimNews }
  | { readonly do: "tokenRefused"; readonly reason: string }
  /** The log is to be read up to that position. */
  | { readonly do: "readUpTo"; readonly syncId: number };

/** What lies between this client and the server now. */
export interface ConnectionState {
  /** Requests may go out. */
  readonly mayTalk: boolean;
  /** A socket is open that tells what changes. */
  readonly live: boolean;
  readonly clientId: string;
}

export type Holds = ReadonlyMap<string, Hold>;

/** One event being heard, as the parts that decide see it. */
export interface ClaimDraft {
  holds: Map<string, Hold>;
  /** Counts requests. */
  asked: number;
  readonly line: ConnectionState;
  readonly now: Instant;
  readonly roll: number;
  /** How far the rows here have read the log. */
  readonly readTo: number;
  readonly effects: ClaimEffect[];
}
