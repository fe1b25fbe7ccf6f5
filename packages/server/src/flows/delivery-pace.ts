/** Lets deliveries begin one after the other while there is something more urgent, and all of them at once else. */
export type Pace = () => Promise<void>;

export interface PaceOptions {
  /** Whether somebody waits for something more urgent. */
  readonly isBusy: () => boolean;
  /** Between the beginnings of two deliveries then. */
  readonly everyMs: number;
  /** Milliseconds that only go forward. */
  readonly monotonic: () => number;
}

/**
 * Telling twenty endpoints of everything costs more than committing it. While commits come, each process begins a delivery
 * every so often: batches are fuller, commits hardly slower, and who cannot be told at that rate is told a little later.
 */
export function createPace({ isBusy, everyMs, monotonic }: PaceOptions): Pace {
  let freeAt = 0;
  return async () => {
    if (!isBusy()) return;
    const now = monotonic();
    const turnAt = Math.max(now, freeAt);
    freeAt = turnAt + everyMs;
    if (turnAt > now) await new Promise((resolve) => setTimeout(resolve, turnAt - now));
  };
}
