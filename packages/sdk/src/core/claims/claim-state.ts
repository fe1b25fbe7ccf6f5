import type { Claim, ClaimBody } from "../../protocol/claims/claim.ts";
import type { Wait } from "../connection/retry.ts";
import { recordKey } from "../log/tables.ts";
import type { Failure, LossReason } from "../queue/failure.ts";

/* The claims that a client has or requests. `claim-events.ts` decides what happens to them. */

/** A moment on two clocks. `at` is monotonic, but may stand still while the machine sleeps; `wall` continues then. */
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

/** The options that are sent to the server. The other options of a claim concern only the client. */
export type Terms = Pick<ClaimBody, "action" | "ttl" | "description" | "meta" | "run" | "onBehalfOf" | "preempt">;

/** One use of the claim in the app. All uses share one claim, because the server sees one participant. */
export interface User {
  readonly lease: string;
  readonly terms: Terms;
  readonly queue: boolean;
  /** Whether it was notified of the grant. */
  readonly has: boolean;
}

export interface Hold {
  readonly target: Target;
  readonly users: readonly User[];
  readonly stage: HoldStage;
  readonly flight: Flight | undefined;
  readonly wait: Wait | undefined;
  /** The claim in the last stream frame, which may arrive before the response that it belongs to. */
  readonly lastPushed: Claim | undefined;
}

/** The log range that the rows still lack before the app is notified of a grant. */
export interface Unread {
  /** The log position at the time of the grant. */
  readonly syncId: number;
  /** When to read entries over HTTP that the stream has not delivered; undefined: they were requested. */
  readonly fetchAt: number | undefined;
  /** When the app is notified in any case. */
  readonly until: number;
}

export type HoldStage =
  /** `isSent`: the server may have received the request. */
  | { readonly phase: "acquiring"; readonly isSent: boolean }
  | {
      readonly phase: "waiting";
      readonly claimId: string;
      readonly position: number | undefined;
      /** When the last request was sent that found the claim queued: the grant can only be later. */
      readonly queuedAt: Instant;
      /** Granted, but only a new request can show how much of the lease is left. */
      readonly granted: boolean;
      readonly checkAt: number;
    }
  | {
      readonly phase: "held";
      readonly claimId: string;
      readonly fence: number;
      readonly sent: Instant;
      readonly ttlMs: number;
      /** The rows are older than the grant, so the app is not notified yet. */
      readonly unread: Unread | undefined;
      /** An event made the claim doubtful: check it at once instead of at the next renewal. */
      readonly check: boolean;
    }
  | {
      readonly phase: "leaving";
      readonly claimId: string | undefined;
      readonly until: number;
      /** Users that wait to be notified of the release. */
      readonly left: readonly string[];
    };

export type RequestKind = "acquire" | "renew" | "poll" | "release";

export interface Flight {
  readonly n: number;
  readonly what: RequestKind;
  /** Whether it requested a place in the claim queue. */
  readonly queue: boolean;
  readonly sent: Instant;
}

export type ClaimNews =
  | { readonly kind: "granted"; readonly claimId: string; readonly fence: number }
  | { readonly kind: "position"; readonly position: number | undefined }
  /** `holders`: the present holders of the record, if the server named them. */
  | { readonly kind: "lost"; readonly reason: LossReason; readonly holders?: readonly Claim[] | undefined }
  | { readonly kind: "failed"; readonly failure: Failure }
  | { readonly kind: "released" };

export type ClaimEffect =
  | {
      readonly do: "request";
      readonly key: string;
      readonly n: number;
      readonly what: RequestKind;
      readonly target: Target;
      readonly claimId: string | undefined;
      readonly body?: ClaimBody | undefined;
      readonly timeoutMs: number;
      readonly keepalive?: boolean;
    }
  /** Abandons a request in flight. */
  | { readonly do: "drop"; readonly key: string; readonly n: number }
  | { readonly do: "notifyLease"; readonly lease: string; readonly news: ClaimNews }
  | { readonly do: "tokenRefused"; readonly reason: string }
  /** Reads the log up to this position. */
  | { readonly do: "readUpTo"; readonly syncId: number };

/** The state of the connection, as far as claims depend on it. */
export interface ConnectionState {
  /** Requests may be sent. */
  readonly canRequest: boolean;
  /** A socket is open that reports changes. */
  readonly live: boolean;
  readonly clientId: string;
}

export type Holds = ReadonlyMap<string, Hold>;

/** The mutable state inside one step, as the claim modules see it. */
export interface ClaimDraft {
  holds: Map<string, Hold>;
  /** Counts requests. */
  requestCount: number;
  readonly connection: ConnectionState;
  readonly now: Instant;
  readonly roll: number;
  /** The rows' position in the log. */
  readonly readTo: number;
  readonly effects: ClaimEffect[];
}
