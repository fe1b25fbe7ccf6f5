/** Work of which only so much is done at a time. What comes beyond waits for its turn, in order. */
export interface Turns {
  /** What the work gave; undefined when its turn did not come in time. */
  take<T>(work: () => Promise<T>): Promise<T | undefined>;
}

export interface TurnsOptions {
  readonly most: number;
  readonly patienceMs: number;
}

export function createTurns({ most, patienceMs }: TurnsOptions): Turns {
  let free = most;
  const waiting = new Set<() => void>();

  function mayStart(): Promise<boolean> {
    if (free > 0) {
      free -= 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const start = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        waiting.delete(start);
        resolve(false);
      }, patienceMs);
      waiting.add(start);
    });
  }

  /** The place goes to whoever waits longest, without becoming free in between. */
  function end(): void {
    const [next] = waiting;
    if (!next) free += 1;
    else {
      waiting.delete(next);
      next();
    }
  }

  return {
    async take(work) {
      if (!(await mayStart())) return undefined;
      try {
        return await work();
      } finally {
        end();
      }
    },
  };
}
