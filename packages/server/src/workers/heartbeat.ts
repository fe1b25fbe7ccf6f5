import type { Worker } from "./pruner.ts";

/** Records a sign of life for everything that is present. */
export interface Heartbeat<T> extends Worker {
  /** Beats soon after an arrival. Many arrivals at once share one beat. */
  soon(one: T): void;
}

export interface HeartbeatOptions<T> {
  present(): readonly T[];
  beat(alive: readonly T[]): Promise<void>;
  failed(error: unknown): void;
  readonly everyMs: number;
}

const SOON_MS = 20;

/** Beats at an interval. Skips a beat while the previous one is still running. */
export function startHeartbeat<T>({ present, beat, failed, everyMs }: HeartbeatOptions<T>): Heartbeat<T> {
  const beating = new Set<Promise<void>>();
  let isBeating = false;
  let coming: T[] = [];
  let soonTimer: NodeJS.Timeout | undefined;
  const timer = setInterval(() => {
    if (isBeating) return;
    isBeating = true;
    void run(present()).finally(() => {
      isBeating = false;
    });
  }, everyMs).unref();

  function run(alive: readonly T[]): Promise<void> {
    const one = beat(alive)
      .catch(failed)
      .finally(() => beating.delete(one));
    beating.add(one);
    return one;
  }

  return {
    soon(one) {
      coming.push(one);
      soonTimer ??= setTimeout(() => {
        const alive = coming;
        coming = [];
        soonTimer = undefined;
        void run(alive);
      }, SOON_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      clearTimeout(soonTimer);
      await Promise.all(beating);
    },
  };
}
