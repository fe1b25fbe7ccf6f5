import { bytesOf, sizeOf } from "./commit-queue.ts";
import { type Job, tenantOf } from "./load-round.ts";

export type LaneName = "quick" | "heavy" | "held";

/** Which lane a tenant's jobs take, by what was seen of it. */
export interface LaneChoice {
  laneOf(job: Job): LaneName;
  /** Another process held the tenant's head for longer than a round takes. */
  isHeld(tenant: number): void;
  /** A round of these tenants, wherever they waited, locked their heads. */
  areFree(tenants: readonly number[]): void;
  /** Postgres took long for a round of this tenant alone. */
  isSlow(tenant: number): void;
  /** The records that the tenant's commits name fill rounds. */
  isLarge(tenant: number): void;
}

/** A request with more than that is heavy, and so are its tenant's others for a while. */
const HEAVY_BYTES = 128 * 1_024;
const HEAVY_COMMITS = 32;
const HEAVY_MS = 2_000;
/** How long a tenant stays aside: twice as long each time that it was seen again soon after. */
const ASIDE_MS = 1_000;
const LONGEST_MS = 60_000;

interface Aside {
  readonly until: number;
  readonly ms: number;
  /** Not before this it comes back, however long ago `until` is. */
  readonly isOver: boolean;
}

/** `now`: monotonic, in milliseconds. */
export function createLaneChoice(now: () => number): LaneChoice {
  const held = new Map<number, Aside>();
  const slow = new Map<number, Aside>();
  const heavyUntil = new Map<number, number>();

  function note(noted: Map<number, Aside>, tenant: number, isOver: boolean): void {
    const before = noted.get(tenant);
    // What one round after the other says at the same time is one event.
    if (before && before.until > now()) return void noted.set(tenant, { ...before, isOver });
    const ms = Math.min(2 * (before?.ms ?? ASIDE_MS / 2), LONGEST_MS);
    noted.set(tenant, { until: now() + ms, ms, isOver });
  }

  function isAside(noted: Map<number, Aside>, tenant: number): boolean {
    const aside = noted.get(tenant);
    if (!aside) return false;
    if (aside.until > now() || !aside.isOver) return true;
    // Well-behaved for as long again: the next time counts as the first one.
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
  };
}
