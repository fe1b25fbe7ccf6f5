import type { Worker } from "./worker.ts";

/** Records a sign of life for everything that is present. */
export interface Heartbeat<T> extends Worker {
  /** Beats at an interval, for all that are present then. */
  start(present: () => readonly T[]): void;
  /** Beats soon after an arrival. Many arrivals at once share one beat. */
  soon(one: T): void;
}

export interface HeartbeatOptions<T> {
  beat(alive: readonly T[]): Promise<void>;
  failed(error: unknown): void;
  readonly everyMs: number;
}

const SOON_MS = 20;

/** Skips a beat of the interval while the previous one is still running. */
export function createHeartbeat<T>({ beat, failed, everyMs }: HeartbeatOptions<T>): Heartbeat<T> {
  const beating = new Set<Promise<void>>();
  let isBeating = false;
  let coming: T[] = [];
  let soonTimer: NodeJS.Timeout | undefined;
  let timer: NodeJS.Timeout | undefined;

  function run(alive: readonly T[]): Promise<void> {
    const one = beat(alive)
      .catch(failed)
      .finally(() => beating.delete(one));
    beating.add(one);
    return one;
  }

  return {
    start(present) {
      timer = setInterval(() => {
        if (isBeating) return;
        isBeating = true;
        void run(present()).finally(() => {
          isBeating = false;
        });
      }, everyMs).unref();
    },
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
