/** Work of which only so much is done at a time. What comes beyond waits for its turn, in order. */
export interface Turns {
  /** What the work gave; undefined when its turn did not come in time. */
  take<T>(work: () => Promise<T>): Promise<T | undefined>;
}

export interface TurnsOptions {
  readonly most: number;
  /** So long nobody's turn ended: what is being done takes long. While turns end, one waits on. */
  readonly patienceMs: number;
  /** But never longer than this. */
  readonly longestMs: number;
}

export function createTurns({ most, patienceMs, longestMs }: TurnsOptions): Turns {
  let free = most;
  let endedAt = Number.NEGATIVE_INFINITY;
  const waiting = new Set<() => void>();

  function mayStart(): Promise<boolean> {
    if (free > 0) {
      free -= 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const since = performance.now();
      const start = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const giveUpLater = (ms: number) =>
        setTimeout(() => {
          const now = performance.now();
          const leftMs = Math.min(Math.max(since, endedAt) + patienceMs, since + longestMs) - now;
          if (leftMs > 0) timer = giveUpLater(leftMs);
          else {
            waiting.delete(start);
            resolve(false);
          }
        }, ms);
      let timer = giveUpLater(patienceMs);
      waiting.add(start);
    });
  }

  /** The place goes to whoever waits longest, without becoming free in between. */
  function end(): void {
    endedAt = performance.now();
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
