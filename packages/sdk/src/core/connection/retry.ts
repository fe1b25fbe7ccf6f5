export interface Wait {
  readonly attempt: number;
  readonly at: number;
  /** The server requested this delay, so nothing shortens it. */
  readonly notBefore?: number | undefined;
}

export interface Pace {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Writes are retried soon, because a person may be watching them. */
export const sendPace: Pace = { firstMs: 500, longestMs: 30_000 };
export const readPace: Pace = { firstMs: 500, longestMs: 30_000 };
/** After a refused token, the app is asked less often: it usually returns the same token. */
export const tokenPace: Pace = { firstMs: 1_000, longestMs: 60_000 };

/**
 * When to retry after one more failure. Half of the delay is random, so that clients which lost the same server at the
 * same moment do not return together. `atLeastMs` is the delay that the server requested.
 */
export function waitAfter(before: Wait | undefined, pace: Pace, now: number, roll: number, atLeastMs = 0): Wait {
  const attempt = (before?.attempt ?? 0) + 1;
  const delay = Math.min(pace.longestMs, pace.firstMs * 2 ** Math.min(attempt - 1, 16));
  const at = now + Math.max(atLeastMs, Math.round(delay * (0.5 + roll / 2)));
  return { attempt, at, notBefore: atLeastMs > 0 ? now + atLeastMs : undefined };
}

/** A stopping or failing server process closes all its streams at once. Its clients reconnect spread over this time. */
const RESTART_SPREAD_MS = 5_000;

/**
 * When to reconnect to a restarting server. Nothing shortens this wait: an event such as a new network reaches many
 * clients at once.
 */
export function waitForRestart(before: Wait | undefined, now: number, roll: number): Wait {
  const at = now + Math.round(roll * RESTART_SPREAD_MS);
  return { attempt: (before?.attempt ?? 0) + 1, at, notBefore: at };
}

export const isDue = (wait: Wait | undefined, now: number): boolean => wait === undefined || wait.at <= now;

/** Ends a wait as early as the server allows. The attempt count stays, so that the next failure waits longer. */
export const dueNow = (wait: Wait | undefined, now: number): Wait | undefined =>
  wait && { ...wait, at: Math.max(now, wait.notBefore ?? now) };
