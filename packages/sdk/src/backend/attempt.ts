import { type Pace, waitAfter } from "../core/connection/retry.ts";

/** What came of one request. */
export type Attempt =
  | {
      readonly kind: "answer";
      readonly status: number;
      /** Undefined: it is not JSON. */
      readonly body: unknown;
      readonly retryAfterMs: number | undefined;
      /** Where a redirect points. Undefined: it is none, or the runtime hides the address. */
      readonly location: string | undefined;
    }
  /** No answer, or only the beginning of one: the request may have been carried out. */
  | { readonly kind: "silence"; readonly reason: string; readonly cause?: unknown };

const ATTEMPTS = 3;
const pace: Pace = { firstMs: 300, longestMs: 30_000 };
/** Of a proxy or a stopping server. The request may have been carried out. */
const UNSURE = [502, 503, 504];

export interface Situation {
  /** Of this attempt: 1 is the first. */
  readonly number: number;
  readonly repeatable: boolean;
  /** How long the call may still take. */
  readonly leftMs: number;
  readonly roll: number;
}

/** The pause in ms before the next attempt. Undefined: this one was the last. */
export function pauseAfter(attempt: Attempt, { number, repeatable, leftMs, roll }: Situation): number | undefined {
  if (number >= ATTEMPTS || !(wasRefused(attempt) || (repeatable && isUnsure(attempt)))) return undefined;
  const atLeastMs = attempt.kind === "answer" ? attempt.retryAfterMs : undefined;
  const { at: pauseMs } = waitAfter({ attempt: number - 1, at: 0 }, pace, 0, roll, atLeastMs);
  return pauseMs < leftMs ? pauseMs : undefined;
}

/** Whether the request may have been carried out although its outcome was not received. */
export const isUnsure = (attempt: Attempt): boolean => attempt.kind === "silence" || UNSURE.includes(attempt.status);

/** "Too many requests" was not carried out. */
const wasRefused = (attempt: Attempt): boolean => attempt.kind === "answer" && attempt.status === 429;
