import type { LogEntry } from "@holdfast/sdk/protocol";

/**
 * The records of a run. All times are milliseconds of this machine's monotonic clock,
 * which all processes share.
 */
export interface Evidence {
  /** The log, read from its beginning after the run. */
  readonly log: readonly LogEntry[];
  readonly endpoints: readonly Endpoint[];
  /** Of all endpoints. */
  readonly requests: readonly Received[];
  /** Requests to unregistered URLs: a redirect was followed. */
  readonly strays: readonly string[];
  readonly troubles: readonly Trouble[];
  readonly times: Times;
}

export interface Times {
  /** The wait before each attempt. */
  readonly schedule: readonly number[];
  /** How long a sender waits for a response. */
  readonly requestMs: number;
  readonly rotationMs: number;
  /** How late an attempt may be on this machine, in addition to the jitter. */
  readonly lateMs: number;
  /** The difference between the log's times and these. */
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
  /** The server's view of it at the end; undefined: it was removed. */
  readonly last?: { readonly status: "enabled" | "disabled"; readonly cursor: number };
}

/** From the request to the certain response. The action took effect at least once between the two. */
export interface Span {
  readonly asked: number;
  readonly answered: number;
}

/** An action of the owner. */
export type Action = Span &
  (
    | { readonly what: "subscribe"; readonly models: readonly string[] }
    /** move: to another address. */
    | { readonly what: "enable" | "disable" | "remove" | "push" | "move" }
    /** lost: it may have been rolled more than once, to a secret that is unknown. */
    | { readonly what: "roll"; readonly lost?: true }
    | { readonly what: "skip"; readonly to: number }
  );

export type Outcome =
  /** A 2xx was sent on an open connection. */
  | "accepted"
  | "failed"
  /** It is unknown whether the sender received a 2xx. */
  | "unknown";

/** One request as the receiver saw it. */
export interface Received {
  /** A unique name. */
  readonly name: string;
  readonly endpoint: string;
  /** When it was noticed. */
  readonly arrived: number;
  /** When all connections that were closed before it had been noticed as closed. */
  readonly begun: number;
  /** When its response had been sent, the sender had closed it, or either process had died. */
  readonly ended: number;
  readonly webhookId: string;
  /** Undefined: it was not read. */
  readonly body?: string;
  readonly outcome: Outcome;
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** The indexes of the endpoint's secrets that signed it; undefined: its body was not read. */
  readonly signedBy?: readonly number[];
}

/** A fault of a process, until it had recovered. */
export interface Trouble {
  readonly what: "server killed" | "server restarted" | "server stopped" | "postgres killed" | "receiver gone";
  readonly from: number;
  readonly to: number;
}

/** The parsed name of a delivery. */
export interface Named {
  readonly revision: number;
  readonly from: number;
  readonly to: number;
}

/** Undefined: not the name of a delivery to that endpoint. */
export function readName(webhookId: string, endpoint: string): Named | undefined {
  const rest = webhookId.startsWith(`msg_${endpoint}_`) ? webhookId.slice(endpoint.length + 5) : "";
  const [, revision, from, to] = /^(\d{1,15})_(\d{1,15})_(\d{1,15})$/.exec(rest) ?? [];
  return to === undefined ? undefined : { revision: Number(revision), from: Number(from), to: Number(to) };
}

export const isTest = ({ webhookId, endpoint }: Received): boolean => webhookId.startsWith(`msg_${endpoint}_test_`);
