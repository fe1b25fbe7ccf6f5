/** How many requests of one token run at once. Those beyond wait in the order in which they came. */
export interface RequestLimiter {
  /** Whether one more may run at once; then it has entered. */
  enter(key: string): boolean;
  /** Its turn came (true: it has entered), or it took too long, too many wait, or it is gone. */
  wait(key: string, gone: (left: () => void) => void): Promise<boolean>;
  /** One that had entered is done: the next in line enters. */
  leave(key: string): void;
}

export interface RequestLimits {
  readonly most: number;
  readonly waiting: number;
  readonly waitingMs: number;
}

interface Line {
  running: number;
  /** In the order in which they came; there are none while there is room. */
  readonly waiting: Set<(runs: boolean) => void>;
}

/** Lines that are kept though nothing runs in them: to make one anew for every request would cost more than the rest. */
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
        // Who hangs up is taken out of the line.
        gone(() => settle(false));
      });
    },
    leave(key) {
      const line = lines.get(key);
      if (!line) return;
      if (line.waiting.size === 0) line.running -= 1;
      // The place goes straight to the next in line: nobody who comes now gets in between.
      else for (const next of line.waiting) return next(true);
    },
  };
}
