import { createFairQueue } from "./fair-queue.ts";

/**
 * Limits how much work runs at once, in total and per tenant. Further work waits in fair order by tenant, so that a
 * tenant with a lot of work does not block the others.
 */
export interface Limiter {
  /** Resolves with a function that frees the slot, once a slot is free. */
  enter(tenant: number, token: string): Promise<() => void>;
  take<T>(tenant: number, token: string, work: () => Promise<T>): Promise<T>;
  readonly waiting: number;
}

export interface LimiterOptions {
  readonly most: number;
  readonly mostOfTenant: number;
}

export function createLimiter({ most, mostOfTenant }: LimiterOptions): Limiter {
  const waiting = createFairQueue<() => void>();
  const runningOf = new Map<number, number>();
  let running = 0;
  let isAdmitting = false;

  const runs = (tenant: number) => runningOf.get(tenant) ?? 0;

  function begin(tenant: number): void {
    running += 1;
    runningOf.set(tenant, runs(tenant) + 1);
  }

  function end(tenant: number): void {
    running -= 1;
    if (runs(tenant) === 1) runningOf.delete(tenant);
    else runningOf.set(tenant, runs(tenant) - 1);
    admitLater();
  }

  /** In the next tick, so that work of other tenants that arrived in this one is considered too. */
  function admitLater(): void {
    if (isAdmitting || waiting.size === 0) return;
    isAdmitting = true;
    setImmediate(() => {
      isAdmitting = false;
      waiting.take(
        (start, tenant) => {
          if (runs(tenant) >= mostOfTenant) return false;
          begin(tenant);
          start();
          return true;
        },
        () => running < most,
      );
    });
  }

  function ender(tenant: number): () => void {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      end(tenant);
    };
  }

  function enter(tenant: number, token: string): Promise<() => void> {
    if (waiting.size === 0 && running < most && runs(tenant) < mostOfTenant) {
      begin(tenant);
      return Promise.resolve(ender(tenant));
    }
    return new Promise((resolve) => {
      waiting.push(tenant, token, () => resolve(ender(tenant)));
      admitLater();
    });
  }

  return {
    enter,
    async take(tenant, token, work) {
      const leave = await enter(tenant, token);
      try {
        return await work();
      } finally {
        leave();
      }
    },
    get waiting() {
      return waiting.size;
    },
  };
}
