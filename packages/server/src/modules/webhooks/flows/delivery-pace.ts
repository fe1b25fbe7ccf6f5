/** Delays the start of deliveries while more urgent work is waiting. Otherwise they start at once. */
export type Pace = () => Promise<void>;

export interface PaceOptions {
  /** Whether more urgent work is waiting. */
  readonly isBusy: () => boolean;
  /** Most deliveries that start in one window while busy. */
  readonly most: number;
  readonly windowMs: number;
  /** Milliseconds, monotonic. */
  readonly monotonic: () => number;
}

/**
 * Delivering every change to twenty endpoints costs more than committing it. While commits arrive, each process starts
 * only a few deliveries per window. Batches are then fuller, attempts that start together are saved together, commits
 * hardly slow down, and endpoints that need a higher rate get their entries a little later.
 */
export function createPace({ isBusy, most, windowMs, monotonic }: PaceOptions): Pace {
  let start = 0;
  /** Deliveries that have started in this window or wait for a later one. */
  let taken = 0;
  return async () => {
    if (!isBusy()) return;
    const now = monotonic();
    const passed = Math.floor((now - start) / windowMs);
    taken = Math.max(0, taken - passed * most);
    start = taken === 0 ? now : start + passed * windowMs;
    const windows = Math.floor(taken++ / most);
    if (windows === 0) return;
    const waitMs = start + windows * windowMs - now;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  };
}

/** Measures whether more than a given amount happens per time window. */
export interface LoadMeter {
  add(count: number): void;
  isHigh(): boolean;
}

export function createLoadMeter({
  most,
  windowMs,
  monotonic,
}: {
  readonly most: number;
  readonly windowMs: number;
  readonly monotonic: () => number;
}): LoadMeter {
  let start = Number.NEGATIVE_INFINITY;
  /** The counts of this window and the previous one. */
  let [now, before] = [0, 0];

  function turn(): void {
    const passed = Math.floor((monotonic() - start) / windowMs);
    if (passed <= 0) return;
    [before, now] = [passed === 1 ? now : 0, 0];
    start = passed === 1 ? start + windowMs : monotonic();
  }

  return {
    add(count) {
      turn();
      now += count;
    },
    isHigh() {
      turn();
      return Math.max(now, before) >= most;
    },
  };
}
