import type { Lease, SyncError } from "@holdfast/sdk";

export interface Target {
  readonly model: string;
  readonly id: string;
  readonly field?: string | undefined;
}

/**
 * The claims that the agent holds. The client renews them. A claim that the agent does not use for a while is released.
 */
export interface HeldLeases {
  keep(target: Target, lease: Lease): void;
  get(target: Target): Lease | undefined;
  /** The lease for a write of these fields, if there is one. */
  covering(model: string, id: string, fields: readonly string[]): Lease | undefined;
  /**
   * Why a claim on the record ended that the agent did not release. Reported until the agent reads, claims or releases
   * it.
   */
  lossOf(model: string, id: string): SyncError | undefined;
  forgetLoss(model: string, id: string): void;
  /** Undefined: the agent does not hold it. */
  release(target: Target): Promise<void> | undefined;
  releaseAll(): Promise<void>;
}

interface Held {
  readonly target: Target;
  readonly lease: Lease;
  idle: ReturnType<typeof setTimeout>;
}

export function createHeldLeases(idleMs: number): HeldLeases {
  const held = new Map<string, Held>();
  const losses = new Map<string, SyncError>();
  const recordOf = ({ model, id }: Target) => `${model} ${id}`;
  const keyOf = (target: Target) => `${recordOf(target)} ${target.field ?? ""}`;

  /** Models forget to release claims. Release an unused one, so that others need not wait until the process ends. */
  const idleTimer = (target: Target) => setTimeout(() => void release(target), idleMs).unref();
  function release(target: Target): Promise<void> | undefined {
    const one = held.get(keyOf(target));
    if (!one) return undefined;
    clearTimeout(one.idle);
    held.delete(keyOf(target));
    return one.lease.release();
  }
  function used(one: Held | undefined): Lease | undefined {
    if (!one) return undefined;
    clearTimeout(one.idle);
    one.idle = idleTimer(one.target);
    return one.lease;
  }

  return {
    keep(target, lease) {
      const key = keyOf(target);
      losses.delete(recordOf(target));
      const before = held.get(key);
      if (before) {
        // Two concurrent calls share one claim, which is released with the last lease.
        clearTimeout(before.idle);
        void before.lease.release();
      }
      held.set(key, { target, lease, idle: idleTimer(target) });
      void lease.lost.then((error) => {
        if (held.get(key)?.lease !== lease) return;
        clearTimeout(held.get(key)?.idle);
        held.delete(key);
        losses.set(recordOf(target), error);
      });
    },
    get: (target) => used(held.get(keyOf(target))),
    covering(model, id, fields) {
      const whole = held.get(keyOf({ model, id }));
      return used(whole ?? fields.map((field) => held.get(keyOf({ model, id, field }))).find(Boolean));
    },
    lossOf: (model, id) => losses.get(recordOf({ model, id })),
    forgetLoss: (model, id) => void losses.delete(recordOf({ model, id })),
    release,
    async releaseAll() {
      await Promise.allSettled([...held.values()].map(({ target }) => release(target)));
    },
  };
}
