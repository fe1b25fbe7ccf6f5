export interface Wait {
  readonly attempt: number;
  readonly at: number;
  /** Asked for by the server; nothing cuts it short. */
  readonly notBefore?: number | undefined;
}

export interface Pace {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Writes are tried again soon: a person is looking at them. */
export const sendPace: Pace = { firstMs: 500, longestMs: 30_000 };
export const readPace: Pace = { firstMs: 500, longestMs: 30_000 };
/** A token that was refused is asked for anew less often: most answers are the same. */
export const tokenPace: Pace = { firstMs: 1_000, longestMs: 60_000 };

/**
 * When to try again after one more failure. Half of the delay is chance, so that clients that lost the same server
 * at the same moment do not return at the same moment. `atLeastMs` is what the server asked for.
 */
export function waitAfter(before: Wait | undefined, pace: Pace, now: number, roll: number, atLeastMs = 0): Wait {
  const attempt = (before?.attempt ?? 0) + 1;
  const delay = Math.min(pace.longestMs, pace.firstMs * 2 ** Math.min(attempt - 1, 16));
  const at = now + Math.max(atLeastMs, Math.round(delay * (0.5 + roll / 2)));
  return { attempt, at, notBefore: atLeastMs > 0 ? now + atLeastMs : undefined };
}

/** A process that stops, or cannot answer, closes all its streams at the same moment: their clients return spread over this time. */
const RESTART_SPREAD_MS = 5_000;

/** When to return to a server that said that it restarts. Nothing cuts it short: what hurries one client hurries all. */
export function waitForRestart(before: Wait | undefined, now: number, roll: number): Wait {
  const at = now + Math.round(roll * RESTART_SPREAD_MS);
  return { attempt: (before?.attempt ?? 0) + 1, at, notBefore: at };
}

export const isDue = (wait: Wait | undefined, now: number): boolean => wait === undefined || wait.at <= now;

/** What was waited for may be tried as soon as the server allows; the next failure still counts on from here. */
export const dueNow = (wait: Wait | undefined, now: number): Wait | undefined =>
  wait && { ...wait, at: Math.max(now, wait.notBefore ?? now) };
