import type { RoundRules } from "../../../kernel/commits/flows/in-rounds.ts";
import type { Drained } from "../../../kernel/commits/flows/round-result.ts";
import { errorState, LOCK_NOT_AVAILABLE } from "../../../kernel/connection/database-error.ts";
import type { Pipe } from "../../../kernel/connection/pipe.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { hasAttachments } from "../db/attachments.ts";
import { readTenantsWithChanges, type TenantsModel } from "../db/captured-changes.ts";
import { drainChanges } from "./drain-changes.ts";

export interface CollectorDeps {
  readonly pool: Database;
  open(): Promise<Pipe>;
  readonly rules: RoundRules;
  /** Called after COMMIT with what a run appended to the tenant's log. */
  publishDrained(tenant: number, drained: Drained): void;
  failed(error: unknown): void;
}

/** How soon to look again, in milliseconds: while changes come, while none come, and while no table is attached. */
const BUSY_MS = 25;
const IDLE_MS = 50;
const UNUSED_MS = 1_000;
/** After a failure. */
const REST_MS = 2_000;

/**
 * Collects the captured changes of all tenants, one run for each in turn, so that one with many changes does not keep
 * the others waiting. Nothing notifies us: a NOTIFY inside the caller's transactions would take a lock of the whole
 * database at their commit.
 */
export function collectChanges({ pool, open, rules, publishDrained, failed }: CollectorDeps) {
  let pipe: Pipe | undefined;
  /** By tenant: when to try again after a run failed. */
  const restingUntil = new Map<number, number>();
  /** Tables whose changes could not be recorded, and when to look again. */
  let broken: readonly (TenantsModel & { readonly until: number })[] = [];

  /** Only the changes of a broken table wait: the next try goes on with those of the others. */
  async function drain(tenant: number): Promise<Drained> {
    for (;;) {
      if (!pipe?.usable) pipe = await open();
      const without = broken.flatMap((one) => (one.tenant === tenant ? one.model : []));
      const drained = await drainChanges(pipe, rules, tenant, without);
      if (!("problem" in drained)) return drained;
      broken = [...broken, { tenant, model: drained.model, until: performance.now() + REST_MS }];
    }
  }

  async function collect(tenant: number): Promise<void> {
    try {
      publishDrained(tenant, await drain(tenant));
      restingUntil.delete(tenant);
    } catch (error) {
      // Another process holds the head, perhaps for the same changes. The next run finds what it left.
      if (errorState(error) === LOCK_NOT_AVAILABLE) return;
      restingUntil.set(tenant, performance.now() + REST_MS);
      failed(error);
    }
  }

  return {
    async collect(): Promise<number> {
      broken = broken.filter(({ until }) => until > performance.now());
      const waiting = await readTenantsWithChanges(pool, broken);
      const tenants = waiting.filter((tenant) => (restingUntil.get(tenant) ?? 0) <= performance.now());
      for (const tenant of tenants) await collect(tenant);
      if (tenants.length > 0) return BUSY_MS;
      return (await hasAttachments(pool)) ? IDLE_MS : UNUSED_MS;
    },
    close: async () => pipe?.close(),
  };
}
