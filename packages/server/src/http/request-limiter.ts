/** Limits how many requests of one token run at once. Further ones wait in order of arrival. */
export interface RequestLimiter {
  /** Takes a slot and returns true, if one is free. */
  enter(key: string): boolean;
  /** Waits for a slot. True: it has one. False: timeout, too many waiting, or the client disconnected. */
  wait(key: string, gone: (left: () => void) => void): Promise<boolean>;
  /** Frees a slot. The next waiting request takes it. */
  leave(key: string): void;
}

export interface RequestLimits {
  readonly most: number;
  readonly waiting: number;
  readonly waitingMs: number;
}

interface Line {
  running: number;
  /** In order of arrival. Empty while slots are free. */
  readonly waiting: Set<(runs: boolean) => void>;
}

/** Idle queues that are kept: creating one per request would cost more than everything else here. */
const IDLE_KEPT = 1_000;

export function createRequestLimiter({ most, waiting, waitingMs }: RequestLimits): RequestLimiter {
  const lines = new Map<string, Line>();

  function newLine(key: string): Line {
    if (lines.size >= IDLE_KEPT) for (const [other, { running }] of lines) if (running === 0) lines.delete(other);
    const line = { running: 0, waiting: new Set<(runs: boolean) => void>() };
    lines.set(key, line);
    return line;
  }

  return {
    enter(key) {
      const line = lines.get(key) ?? newLine(key);
      if (line.running >= most) return false;
      line.running += 1;
      return true;
    },
    wait(key, gone) {
      const line = lines.get(key);
      if (!line || line.waiting.size >= waiting) return Promise.resolve(false);
      return new Promise((resolve) => {
        const settle = (runs: boolean) => {
          clearTimeout(timer);
          line.waiting.delete(settle);
          resolve(runs);
        };
        const timer = setTimeout(settle, waitingMs, false);
        line.waiting.add(settle);
        // Remove a request from the queue when its client disconnects.
        gone(() => settle(false));
      });
    },
    leave(key) {
      const line = lines.get(key);
      if (!line) return;
      if (line.waiting.size === 0) line.running -= 1;
      // Hand the slot directly to the next request in the queue, so that a new one cannot get in between.
      else for (const next of line.waiting) return next(true);
    },
  };
}
