import type { ErrorCode } from "@holdfast/sdk/protocol";

/** HTTP requests and refusals since the process started. */
export interface Counters {
  /** All requests, whatever the response. */
  requests: number;
  /** Refusals by error code. */
  readonly refusals: Map<ErrorCode, number>;
}

export const createCounters = (): Counters => ({ requests: 0, refusals: new Map() });

export const countRefusal = ({ refusals }: Counters, code: ErrorCode): void =>
  void refusals.set(code, (refusals.get(code) ?? 0) + 1);
