import type { ErrorCode } from "@holdfast/sdk/protocol";

/** What was asked over HTTP since the process started. */
export interface Counters {
  /** Requests that came, whatever was answered. */
  requests: number;
  /** Refusals that were sent. */
  readonly refusals: Map<ErrorCode, number>;
}

export const createCounters = (): Counters => ({ requests: 0, refusals: new Map() });

export const countRefusal = ({ refusals }: Counters, code: ErrorCode): void =>
  void refusals.set(code, (refusals.get(code) ?? 0) + 1);
