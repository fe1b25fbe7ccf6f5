import { type Job, worldOf } from "./load-round.ts";
import { bytesOf, sizeOf } from "./waiting-line.ts";

export type LaneName = "quick" | "heavy" | "held";

/** Which lane a tenant's jobs take, by what was seen of it. */
export interface LaneChoice {
  laneOf(job: Job): LaneName;
  /** Another process held the tenant's head for longer than a round takes. */
  isHeld(world: number): void;
  /** A round of these tenants, wherever they waited, locked their heads. */
  areFree(worlds: readonly number[]): void;
  /** Postgres took long for a round of this tenant alone. */
  isSlow(world: number): void;
  /** The records that the tenant's commits name fill rounds. */
  isLarge(world: number): void;
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

  function note(noted: Map<number, Aside>, world: number, isOver: boolean): void {
    const before = noted.get(world);
    // What one round after the other says at the same time is one event.
    if (before && before.until > now()) return void noted.set(world, { ...before, isOver });
    const ms = Math.min(2 * (before?.ms ?? ASIDE_MS / 2), LONGEST_MS);
    noted.set(world, { until: now() + ms, ms, isOver });
  }

  function isAside(noted: Map<number, Aside>, world: number): boolean {
    const aside = noted.get(world);
    if (!aside) return false;
    if (aside.until > now() || !aside.isOver) return true;
    // Well-behaved for as long again: the next time counts as the first one.
    if (now() - aside.until > 2 * aside.ms) noted.delete(world);
    return false;
  }

  function isHeavy(job: Job, world: number): boolean {
    if (sizeOf(job) > HEAVY_COMMITS || bytesOf(job) > HEAVY_BYTES) heavyUntil.set(world, now() + HEAVY_MS);
    const until = heavyUntil.get(world);
    if (until === undefined) return false;
    if (until > now()) return true;
    heavyUntil.delete(world);
    return false;
  }

  return {
    laneOf(job) {
      const world = worldOf(job);
      if (isAside(held, world)) return "held";
      return isHeavy(job, world) || isAside(slow, world) ? "heavy" : "quick";
    },
    isHeld: (world) => note(held, world, false),
    areFree(worlds) {
      for (const world of worlds) {
        const aside = held.get(world);
        if (aside) held.set(world, { ...aside, isOver: true });
      }
    },
    isSlow: (world) => note(slow, world, true),
    isLarge: (world) => void heavyUntil.set(world, now() + HEAVY_MS),
  };
}
