import { type DeliveryError, webhookLimits } from "@holdfast/sdk/protocol";

/** The delivery state of one endpoint. Times are in milliseconds since 1970, from the database's clock. */
export interface DeliveryState {
  /** Null: enabled. */
  readonly disabledReason: "attempts_exhausted" | "owner" | null;
  /** Increases when the same positions would be sent with different content. */
  readonly revision: number;
  /** Everything up to here was delivered, skipped, or not subscribed to. */
  readonly cursor: number;
  /** Attempts begun at this cursor. */
  readonly attempt: number;
  /** The end of the batch being attempted. It may shrink but never grows. */
  readonly batchTo: number | null;
  /** Most events in the next batch. */
  readonly batchSize: number;
  /** Null: at once. */
  readonly nextAttemptAt: number | null;
  readonly lease: DeliveryLease | null;
  readonly lastError: LastError | null;
  readonly lastSuccessAt: number | null;
}

/** The right to have a request in flight. No other process sends until it is over. */
export interface DeliveryLease {
  readonly token: string;
  readonly at: number;
  readonly until: number;
}

export interface LastError {
  readonly code: DeliveryError;
  readonly message: string;
  readonly status: number | null;
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

/** What an attempt sent. */
export interface SentBatch {
  readonly lease: string;
  readonly revision: number;
  /** The cursor at the time. */
  readonly cursor: number;
  /** The positions of its events, in order. */
  readonly positions: readonly number[];
}

/** The result of an attempt. `unknown`: the sender stopped before a response arrived. */
export type DeliveryOutcome =
  | { readonly kind: "succeeded"; readonly status: number }
  | {
      readonly kind: "failed";
      readonly code: DeliveryError;
      readonly message: string;
      readonly status: number | null;
      /** The delay that the receiver requested. */
      readonly retryAfterMs?: number;
    }
  | { readonly kind: "unknown"; readonly code: "interrupted"; readonly message: string };

export interface DeliveryTimes {
  /** The delay before each attempt, from the end of the failed one. */
  readonly schedule: readonly number[];
  /** The timeout of an attempt. */
  readonly requestMs: number;
  /** Longer than an attempt can take. */
  readonly leaseMs: number;
}

/** When the endpoint is due, if it has entries beyond its cursor. Undefined: not before its owner acts. */
export function dueAt({ disabledReason, lease, nextAttemptAt }: DeliveryState): number | undefined {
  if (disabledReason !== null) return undefined;
  // An expired lease belongs to a sender that stopped. It has to be settled first.
  return lease ? lease.until : (nextAttemptAt ?? 0);
}

/**
 * Milliseconds until the endpoint is due. A time further ahead than any code would set was set by a clock that ran
 * ahead and has been corrected since: treat it as due.
 */
export function dueIn(
  state: DeliveryState,
  now: number,
  times: Pick<DeliveryTimes, "schedule" | "leaseMs">,
): number | undefined {
  const due = dueAt(state);
  if (due === undefined) return undefined;
  const longest = state.lease ? times.leaseMs : (times.schedule[state.attempt] ?? 0) * (2 + JITTER);
  // Twice as long for a lease: its owner may still be sending, and a small clock step must not start a second request
  // beside it.
  return due - now > (state.lease ? 2 * longest : longest + CLOCK_STEP_MS) ? 0 : due - now;
}

/** Clock corrections up to this size are normal. */
const CLOCK_STEP_MS = 1_000;

/** Starts an attempt. It is counted before it is sent, so it counts whatever happens afterwards. */
export function beginAttempt(
  state: DeliveryState,
  to: number,
  token: string,
  now: number,
  times: DeliveryTimes,
): DeliveryState {
  return {
    ...state,
    attempt: state.attempt + 1,
    batchTo: to,
    nextAttemptAt: null,
    lease: { token, at: now, until: now + times.leaseMs },
  };
}

/** Moves the cursor without a request: no event up to there is for the endpoint, or its owner skips them. */
export const passOver = (state: DeliveryState, to: number): DeliveryState => ({ ...state, ...AT_REST, cursor: to });

const AT_REST = { attempt: 0, batchTo: null, nextAttemptAt: null } as const;

/**
 * Ends an attempt, respecting changes made meanwhile. If the revision or the cursor has changed, the result has no
 * consequence, and the current batch is attempted at once. Undefined: another process has the lease by now.
 */
export function endAttempt(
  state: DeliveryState,
  sent: SentBatch,
  outcome: DeliveryOutcome,
  {
    now,
    random,
    times,
  }: { readonly now: number /** 0 to 1. */; readonly random: number; readonly times: DeliveryTimes },
): DeliveryState | undefined {
  if (state.lease?.token !== sent.lease) return undefined;
  const free = { ...state, lease: null };
  const isSame = state.revision === sent.revision && state.cursor === sent.cursor;
  if (outcome.kind === "succeeded") {
    const told = { ...free, lastSuccessAt: now };
    if (!isSame) return told;
    const batchSize = Math.min(webhookLimits.batchEvents, state.batchSize * 2);
    return { ...told, ...AT_REST, cursor: sent.positions.at(-1) as number, batchSize };
  }
  const failed = { ...free, lastError: errorOf(outcome, sent, now) };
  return isSame ? afterFailure(failed, sent.positions, outcome, { now, random, times }) : failed;
}

function afterFailure(
  state: DeliveryState,
  positions: readonly number[],
  outcome: Exclude<DeliveryOutcome, { kind: "succeeded" }>,
  { now, random, times: { schedule } }: { now: number; random: number; times: DeliveryTimes },
): DeliveryState {
  if (state.attempt >= schedule.length)
    return { ...state, disabledReason: state.disabledReason ?? "attempts_exhausted" };
  const delay = schedule[state.attempt] as number;
  const asked = outcome.kind === "failed" ? (outcome.retryAfterMs ?? 0) : 0;
  const wait = Math.max(delay, Math.min(asked, 2 * delay)) + random * delay * JITTER;
  return { ...state, ...shrunk(state, positions), nextAttemptAt: now + Math.round(wait) };
}

const JITTER = 0.1;
/**
 * The batch, or one of its events, may be too much for the receiver. From the third failure on, batches get smaller.
 */
const SHRINKS_FROM = 3;
const SHRINKS_TO = 3;

function shrunk({ attempt }: DeliveryState, positions: readonly number[]): Partial<DeliveryState> {
  if (attempt < SHRINKS_FROM) return {};
  const batchSize = Math.ceil(positions.length / SHRINKS_TO);
  return { batchSize, batchTo: positions[batchSize - 1] as number };
}

function errorOf(
  outcome: Exclude<DeliveryOutcome, { kind: "succeeded" }>,
  { positions }: SentBatch,
  at: number,
): LastError {
  const { code, message } = outcome;
  const status = outcome.kind === "failed" ? outcome.status : null;
  return { code, message, status, from: positions[0] as number, to: positions.at(-1) as number, at };
}

/** The latest time at which a lost attempt ended. */
export const lastEnd = ({ at }: DeliveryLease, { requestMs }: DeliveryTimes): number => at + requestMs;

/** Actions of the owner. A request in flight ends by itself and does not affect these decisions. */
export const enable = (state: DeliveryState): DeliveryState => ({
  ...state,
  disabledReason: null,
  attempt: 0,
  nextAttemptAt: null,
});

export const disable = (state: DeliveryState): DeliveryState => ({ ...state, disabledReason: "owner" });

/** The same positions now have different content or another receiver: attempt them again, at once. */
export const revise = (state: DeliveryState): DeliveryState => ({
  ...state,
  revision: state.revision + 1,
  attempt: 0,
  nextAttemptAt: null,
});
