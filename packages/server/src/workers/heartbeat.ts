import type { Worker } from "./pruner.ts";

/** Says of those who are there that they are. */
export interface Heartbeat<T> extends Worker {
  /** Says it of somebody who just came, in a moment: when thousands come at once, that is one beat and not thousands. */
  soon(one: T): void;
}

export interface HeartbeatOptions<T> {
  present(): readonly T[];
  beat(alive: readonly T[]): Promise<void>;
  failed(error: unknown): void;
  readonly everyMs: number;
}

const SOON_MS = 20;

/** Beats every so often, and skips one when the last is not over. */
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
