import { bytesOf, sizeOf } from "./commit-queue.ts";
import { type Job, tenantOf } from "./job.ts";

/** Others are of modules that run rounds themselves. */
export type LaneName = "quick" | "heavy" | "held" | { readonly of: string };

/** Decides which lane a tenant's jobs take, from its recent behavior. */
export interface LaneChoice {
  laneOf(job: Job): LaneName;
  /** Another process held the lock of the tenant's head for longer than a round takes. */
  isHeld(tenant: number): void;
  /** A round locked the heads of these tenants, so they are free. Any lane may report this. */
  areFree(tenants: readonly number[]): void;
  /** Postgres was slow for a round of this tenant alone. */
  isSlow(tenant: number): void;
  /** The records that the tenant's commits name fill whole rounds. */
  isLarge(tenant: number): void;
  /** The module that runs the tenant's rounds itself. Undefined: none does any more. */
  isRunBy(tenant: number, module: string | undefined): void;
}

/** A request above one of these bounds makes its tenant heavy for a while. */
const HEAVY_BYTES = 128 * 1_024;
const HEAVY_COMMITS = 32;
const HEAVY_MS = 2_000;
/** How long a tenant stays in another lane. The time doubles each time the cause recurs soon after. */
const ASIDE_MS = 1_000;
const LONGEST_MS = 60_000;

interface Aside {
  readonly until: number;
  readonly ms: number;
  /** The tenant returns only once this is set, even if `until` has passed. */
  readonly isOver: boolean;
}

/** `now`: monotonic, in milliseconds. */
export function createLaneChoice(now: () => number): LaneChoice {
  const held = new Map<number, Aside>();
  const slow = new Map<number, Aside>();
  const heavyUntil = new Map<number, number>();
  const runBy = new Map<number, string>();

  function note(noted: Map<number, Aside>, tenant: number, isOver: boolean): void {
    const before = noted.get(tenant);
    // Reports of consecutive rounds within the same period count as one event.
    if (before && before.until > now()) return void noted.set(tenant, { ...before, isOver });
    const ms = Math.min(2 * (before?.ms ?? ASIDE_MS / 2), LONGEST_MS);
    noted.set(tenant, { until: now() + ms, ms, isOver });
  }

  function isAside(noted: Map<number, Aside>, tenant: number): boolean {
    const aside = noted.get(tenant);
    if (!aside) return false;
    if (aside.until > now() || !aside.isOver) return true;
    // No recurrence for twice the period: the next event counts as the first.
    if (now() - aside.until > 2 * aside.ms) noted.delete(tenant);
    return false;
  }

  function isHeavy(job: Job, tenant: number): boolean {
    if (sizeOf(job) > HEAVY_COMMITS || bytesOf(job) > HEAVY_BYTES) heavyUntil.set(tenant, now() + HEAVY_MS);
    const until = heavyUntil.get(tenant);
    if (until === undefined) return false;
    if (until > now()) return true;
    heavyUntil.delete(tenant);
    return false;
  }

  return {
    laneOf(job) {
      const tenant = tenantOf(job);
      const module = runBy.get(tenant);
      if (module !== undefined) return { of: module };
      if (isAside(held, tenant)) return "held";
      return isHeavy(job, tenant) || isAside(slow, tenant) ? "heavy" : "quick";
    },
    isHeld: (tenant) => note(held, tenant, false),
    areFree(tenants) {
      for (const tenant of tenants) {
        const aside = held.get(tenant);
        if (aside) held.set(tenant, { ...aside, isOver: true });
      }
    },
    isSlow: (tenant) => note(slow, tenant, true),
    isLarge: (tenant) => void heavyUntil.set(tenant, now() + HEAVY_MS),
    isRunBy: (tenant, module) => void (module === undefined ? runBy.delete(tenant) : runBy.set(tenant, module)),
  };
}
