/** Lets deliveries begin a few at a time while there is something more urgent, and all of them at once else. */
export type Pace = () => Promise<void>;

export interface PaceOptions {
  /** Whether somebody waits for something more urgent. */
  readonly isBusy: () => boolean;
  /** So many deliveries begin in each window then. */
  readonly most: number;
  readonly windowMs: number;
  /** Milliseconds that only go forward. */
  readonly monotonic: () => number;
}

/**
 * Telling twenty endpoints of everything costs more than committing it. While commits come, each process begins a few
 * deliveries in every window: batches are fuller, what is begun together is written down together, commits are hardly
 * slower, and who cannot be told at that rate is told a little later.
 */
export function createPace({ isBusy, most, windowMs, monotonic }: PaceOptions): Pace {
  let start = 0;
  /** Begun in the window, or waiting for one of the next. */
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

/** Whether more than so much happens in a window of time. */
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
  /** In this window, and in the one before it. */
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
