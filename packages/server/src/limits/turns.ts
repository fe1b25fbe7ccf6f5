/** Limits how much work runs at once. Further work waits for a free slot, in order of arrival. */
export interface Turns {
  /** The result of the work. Undefined if no slot was free in time. */
  take<T>(work: () => Promise<T>): Promise<T | undefined>;
}

export interface TurnsOptions {
  readonly most: number;
  /** Give up if no slot was freed for this long. While slots are being freed, the work continues to wait. */
  readonly patienceMs: number;
  /** The longest wait in any case. */
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

  /** Hands the slot to the work that has waited longest, without freeing it in between. */
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
