/** How many requests of one token run at once. Those beyond wait in the order in which they came. */
export interface InFlight {
  /** Whether one more may run at once; then it has entered. */
  enter(key: string): boolean;
  /** Its turn came (true: it has entered), or it took too long, too many wait, or it is gone. */
  wait(key: string, gone: (left: () => void) => void): Promise<boolean>;
  /** One that had entered is done: the next in line enters. */
  leave(key: string): void;
}

export interface InFlightLimits {
  readonly most: number;
  readonly waiting: number;
  readonly waitingMs: number;
}

interface Line {
  running: number;
  /** In the order in which they came; there are none while there is room. */
  readonly waiting: Set<(runs: boolean) => void>;
}

export function createInFlight({ most, waiting, waitingMs }: InFlightLimits): InFlight {
  const lines = new Map<string, Line>();
  return {
    enter(key) {
      const line = lines.get(key);
      if (!line) lines.set(key, { running: 1, waiting: new Set() });
      else if (line.running >= most) return false;
      else line.running += 1;
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
      const [next] = line.waiting;
      // The place goes straight to the next in line: nobody who comes now gets in between.
      if (next) return next(true);
      line.running -= 1;
      if (line.running === 0) lines.delete(key);
    },
  };
}
