export interface TimeLimit {
  isOver(): boolean;
  /** Resolves when it is over. */
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
  // The clock too: work that never yields to timers keeps them from ringing.
  return { over, end, isOver: () => hasRung || performance.now() - startedAt >= ms };
}
