import type { LogEntry } from "@holdfast/sdk/protocol";

/**
 * What a run remembers of deliveries. Every time is one of this machine's clock that only runs forward, in milliseconds;
 * all processes read the same one.
 */
export interface Evidence {
  /** The log as it was read afterwards, from its beginning. */
  readonly log: readonly LogEntry[];
  /** The same as an earlier reading told it, where a push changed the words. */
  readonly earlier?: readonly (readonly LogEntry[])[];
  readonly endpoints: readonly Endpoint[];
  /** Of all endpoints. */
  readonly requests: readonly Received[];
  /** Who came where nobody was sent: by following a redirect. */
  readonly strays: readonly string[];
  readonly troubles: readonly Trouble[];
  readonly times: Times;
}

export interface Times {
  /** The wait before each attempt. */
  readonly schedule: readonly number[];
  /** So long a sender waits for an answer. */
  readonly requestMs: number;
  readonly rotationMs: number;
  /** How much later than the schedule says an attempt may come on this machine, beside the jitter. */
  readonly lateMs: number;
  /** What to add to a time here to have one of the log. */
  readonly epochMs: number;
}

export interface Endpoint {
  readonly id: string;
  /** Its cursor when it was made. */
  readonly cursor: number;
  readonly models: readonly string[];
  readonly made: Span;
  /** One after the other, in this order. */
  readonly actions: readonly Action[];
  /** What the server said of it in the end; absent: it was removed. */
  readonly last?: { readonly status: "enabled" | "disabled"; readonly cursor: number };
}

/** From when somebody asked until it was answered for certain: it happened once at least, somewhere between. */
export interface Span {
  readonly asked: number;
  readonly answered: number;
}

/** What the owner did. */
export type Action = Span &
  (
    | { readonly what: "subscribe"; readonly models: readonly string[] }
    /** move: to another address. */
    | { readonly what: "enable" | "disable" | "remove" | "push" | "move" }
    /** lost: it may have been rolled more than once, to a secret that nobody was told of. */
    | { readonly what: "roll"; readonly lost?: true }
    | { readonly what: "skip"; readonly to: number }
  );

export type Outcome =
  /** A 2xx left, on a connection that was open. */
  | "accepted"
  | "failed"
  /** Whether the sender had a 2xx nobody knows. */
  | "unknown";

/** One request as the receiver saw it. */
export interface Received {
  /** A name of its own. */
  readonly name: string;
  readonly endpoint: string;
  /** When it was noticed. */
  readonly arrived: number;
  /** When every connection that was closed before it came was known to be closed. */
  readonly begun: number;
  /** When its answer had left, the sender had closed it, or either of the two had died. */
  readonly ended: number;
  readonly webhookId: string;
  /** Absent: it was not read. */
  readonly body?: string;
  readonly outcome: Outcome;
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** Which of the endpoint's secrets, in the order in which they were made, its signature was made with; absent: its body was not read. */
  readonly signedBy?: readonly number[];
}

/** Something that was done to a process, until it was well again. */
export interface Trouble {
  readonly what: "server killed" | "server restarted" | "server stopped" | "postgres killed" | "receiver gone";
  readonly from: number;
  readonly to: number;
}

/** What the name of a delivery says. */
export interface Named {
  readonly revision: number;
  readonly from: number;
  readonly to: number;
}

/** Undefined: no name of a delivery to that endpoint. */
export function readName(webhookId: string, endpoint: string): Named | undefined {
  const rest = webhookId.startsWith(`msg_${endpoint}_`) ? webhookId.slice(endpoint.length + 5) : "";
  const [, revision, from, to] = /^(\d{1,15})_(\d{1,15})_(\d{1,15})$/.exec(rest) ?? [];
  return to === undefined ? undefined : { revision: Number(revision), from: Number(from), to: Number(to) };
}

export const isTest = ({ webhookId, endpoint }: Received): boolean => webhookId.startsWith(`msg_${endpoint}_test_`);
