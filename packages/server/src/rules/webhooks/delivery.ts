import { type DeliveryError, webhookLimits } from "@holdfast/sdk/protocol";

/** Where one endpoint is. Times in milliseconds since 1970, by the database's clock. */
export interface Delivery {
  /** Null: it is enabled. */
  readonly disabledReason: "attempts_exhausted" | "owner" | null;
  /** Raised by what makes the same positions tell something else. */
  readonly revision: number;
  /** Everything up to there was delivered, skipped, or not subscribed to. */
  readonly cursor: number;
  /** Attempts that were begun at this cursor. */
  readonly attempt: number;
  /** Where the batch ends that is being tried: it may shrink, and never grows. */
  readonly batchTo: number | null;
  /** Events that the next batch has at most. */
  readonly batchSize: number;
  /** Null: at once. */
  readonly nextAttemptAt: number | null;
  readonly lease: Lease | null;
  readonly lastError: LastError | null;
  readonly lastSuccessAt: number | null;
}

/** Leave to have a request in flight: nobody else sends one until it is over. */
export interface Lease {
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

/** What was sent in an attempt. */
export interface Sent {
  readonly lease: string;
  readonly revision: number;
  /** Where the cursor was. */
  readonly cursor: number;
  /** Of its events, in order. */
  readonly positions: readonly number[];
}

/** What came of an attempt. `unknown`: the sender stopped before there was an answer. */
export type Outcome =
  | { readonly kind: "succeeded"; readonly status: number }
  | {
      readonly kind: "failed";
      readonly code: DeliveryError;
      readonly message: string;
      readonly status: number | null;
      /** What the receiver asked for. */
      readonly retryAfterMs?: number;
    }
  | { readonly kind: "unknown"; readonly code: "interrupted"; readonly message: string };

export interface DeliveryTimes {
  /** The wait before each attempt, from the end of the one that failed. */
  readonly schedule: readonly number[];
  /** An attempt is over after so long, answered or not. */
  readonly requestMs: number;
  /** Longer than an attempt can take. */
  readonly leaseMs: number;
}

/** When something is to be done about it, if there is anything beyond its cursor; undefined: not before the owner says so. */
export function dueAt({ disabledReason, lease, nextAttemptAt }: Delivery): number | undefined {
  if (disabledReason !== null) return undefined;
  // A lease that is over is somebody's who stopped: that is settled first.
  return lease ? lease.until : (nextAttemptAt ?? 0);
}

/**
 * In how many milliseconds something is to be done about it. Times that lie further ahead than they can have been set were
 * set by a clock that was ahead, and was put right since: then it is due.
 */
export function dueIn(
  state: Delivery,
  now: number,
  times: Pick<DeliveryTimes, "schedule" | "leaseMs">,
): number | undefined {
  const due = dueAt(state);
  if (due === undefined) return undefined;
  const longest = state.lease ? times.leaseMs : (times.schedule[state.attempt] ?? 0) * (2 + JITTER);
  // Twice a lease: its owner may be at it, and somebody else begins no second request beside it for a small step.
  return due - now > (state.lease ? 2 * longest : longest + CLOCK_STEP_MS) ? 0 : due - now;
}

/** By so much any clock may be put right. */
const CLOCK_STEP_MS = 1_000;

/** Counted before it is sent: whatever happens then, it was an attempt. */
export function beginAttempt(state: Delivery, to: number, token: string, now: number, times: DeliveryTimes): Delivery {
  return {
    ...state,
    attempt: state.attempt + 1,
    batchTo: to,
    nextAttemptAt: null,
    lease: { token, at: now, until: now + times.leaseMs },
  };
}

/** The cursor moves on without a request: nothing up to there is for the endpoint, or its owner skips it. */
export const passOver = (state: Delivery, to: number): Delivery => ({ ...state, ...AT_REST, cursor: to });

const AT_REST = { attempt: 0, batchTo: null, nextAttemptAt: null } as const;

/**
 * An attempt is over. What was changed meanwhile counts: of another revision, or another cursor, nothing is concluded, and
 * the present one is tried at once. Undefined: the lease is somebody else's by now.
 */
export function endAttempt(
  state: Delivery,
  sent: Sent,
  outcome: Outcome,
  {
    now,
    random,
    times,
  }: { readonly now: number /** 0 to 1. */; readonly random: number; readonly times: DeliveryTimes },
): Delivery | undefined {
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
  state: Delivery,
  positions: readonly number[],
  outcome: Exclude<Outcome, { kind: "succeeded" }>,
  { now, random, times: { schedule } }: { now: number; random: number; times: DeliveryTimes },
): Delivery {
  if (state.attempt >= schedule.length)
    return { ...state, disabledReason: state.disabledReason ?? "attempts_exhausted" };
  const delay = schedule[state.attempt] as number;
  const asked = outcome.kind === "failed" ? (outcome.retryAfterMs ?? 0) : 0;
  const wait = Math.max(delay, Math.min(asked, 2 * delay)) + random * delay * JITTER;
  return { ...state, ...shrunk(state, positions), nextAttemptAt: now + Math.round(wait) };
}

const JITTER = 0.1;
/** The batch may be too much for the receiver, or one of its events: from the third failure on there are fewer of them. */
const SHRINKS_FROM = 3;
const SHRINKS_TO = 3;

function shrunk({ attempt }: Delivery, positions: readonly number[]): Partial<Delivery> {
  if (attempt < SHRINKS_FROM) return {};
  const batchSize = Math.ceil(positions.length / SHRINKS_TO);
  return { batchSize, batchTo: positions[batchSize - 1] as number };
}

function errorOf(outcome: Exclude<Outcome, { kind: "succeeded" }>, { positions }: Sent, at: number): LastError {
  const { code, message } = outcome;
  const status = outcome.kind === "failed" ? outcome.status : null;
  return { code, message, status, from: positions[0] as number, to: positions.at(-1) as number, at };
}

/** When an attempt that nobody ended was over at the latest. */
export const lastEnd = ({ at }: Lease, { requestMs }: DeliveryTimes): number => at + requestMs;

/** What the owner does. Whatever is in flight ends by itself, and changes nothing that was decided here. */
export const enable = (state: Delivery): Delivery => ({
  ...state,
  disabledReason: null,
  attempt: 0,
  nextAttemptAt: null,
});

export const disable = (state: Delivery): Delivery => ({ ...state, disabledReason: "owner" });

/** The same positions tell something else now, or somebody else: they are tried anew, and at once. */
export const revise = (state: Delivery): Delivery => ({
  ...state,
  revision: state.revision + 1,
  attempt: 0,
  nextAttemptAt: null,
});
