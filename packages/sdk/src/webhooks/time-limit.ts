export interface TimeLimit {
  isOver(): boolean;
  /** Resolves when the time limit has passed. */
  readonly over: Promise<void>;
  end(): void;
}

export function timeLimit(ms: number): TimeLimit {
  const startedAt = performance.now();
  let hasRung = false;
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      hasRung = true;
      resolve();
    }, ms);
    end = () => clearTimeout(timer);
  });
  // Also compares the clock, because work that never yields keeps timers from firing.
  return { over, end, isOver: () => hasRung || performance.now() - startedAt >= ms };
}
