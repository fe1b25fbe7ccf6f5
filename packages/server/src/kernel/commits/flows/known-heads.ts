import { type CacheUse, createSizedCache } from "../../sized-cache.ts";
import type { LockedHead } from "../db/heads.ts";
import { type Job, tenantOf } from "./job.ts";

/**
 * The heads that this process wrote last. A round of creates can be judged by them before the database has replied to
 * anything, even to the previous round's save. Such a round reads nothing, and its save is refused as a whole if an
 * expected head was wrong: another process may have written meanwhile.
 */
export interface KnownHeads {
  readonly use: CacheUse;
  /**
   * The heads of the jobs' tenants, ordered by tenant. Undefined unless all are known and the jobs contain only
   * creates.
   */
  expect(jobs: readonly Job[]): LockedHead[] | undefined;
  /** Stores the heads that a round leaves, from locked rows or from expected ones. */
  learn(heads: readonly LockedHead[], how: "locked" | "expected"): void;
  /**
   * A round failed, so the heads learned from it are wrong, or another process writes there. Load these heads for a
   * while.
   */
  distrust(tenants: Iterable<number>): void;
  /** Another process has written up to this position. */
  moved(tenant: number, position: number): void;
  forget(): void;
}

/** The database's clock is read at least this often. In between, our own clock advances the last reading. */
const CLOCK_MS = 1_000;
/** A head is locked and read again at least this often. */
const KNOWN_MS = 600_000;
/**
 * How far our clock may drift from the database's between two reads of a head. A head's time may be ahead of both
 * clocks.
 */
const DRIFT_MS = 250;
const DISTRUST_MS = 1_000;
const USUAL_BYTES = 16 * 2 ** 20;
/** Approximate size of one head in memory. */
const HEAD_BYTES = 600;

interface Known {
  readonly head: LockedHead;
  readonly reading: ClockReading;
}

/** When a head was locked (ms since 1970, this machine's clock), and the database's time then. */
interface ClockReading {
  readonly at: number;
  readonly databaseMs: number;
}

/** `now`: milliseconds since 1970. */
export function createKnownHeads(now: () => number, maxBytes = USUAL_BYTES): KnownHeads {
  const known = createSizedCache<number, Known>(maxBytes, () => HEAD_BYTES);
  const distrusted = new Map<number, number>();
  /** The last reading of the database's clock, from any tenant: all share one clock. */
  let clock: ClockReading | undefined;

  function databaseNow(): number | undefined {
    const age = clock ? now() - clock.at : CLOCK_MS;
    return clock && age >= 0 && age < CLOCK_MS ? clock.databaseMs + age : undefined;
  }

  function headOf(tenant: number, databaseMs: number): LockedHead | undefined {
    if (distrusted.has(tenant)) return undefined;
    const { head, reading } = known.get(tenant) ?? {};
    if (!head || !reading) return undefined;
    const age = now() - reading.at;
    if (age < 0 || age >= KNOWN_MS || Math.abs(reading.databaseMs + age - databaseMs) > DRIFT_MS) return undefined;
    const time = Math.max(databaseMs, Date.parse(head.now));
    return { ...head, now: new Date(time).toISOString() };
  }

  function letExpire(): void {
    for (const [tenant, since] of distrusted) if (Math.abs(now() - since) >= DISTRUST_MS) distrusted.delete(tenant);
  }

  return {
    expect(jobs) {
      const databaseMs = databaseNow();
      if (databaseMs === undefined || !jobs.every(onlyCreates)) return undefined;
      letExpire();
      const heads: LockedHead[] = [];
      for (const tenant of [...new Set(jobs.map(tenantOf))].sort((a, b) => a - b)) {
        const head = headOf(tenant, databaseMs);
        if (!head) return undefined;
        heads.push(head);
      }
      return heads;
    },
    learn(heads, how) {
      for (const head of heads) {
        const before = known.peek(head.tenant);
        const reading = how === "expected" && before ? before.reading : { at: now(), databaseMs: Date.parse(head.now) };
        known.set(head.tenant, { head, reading });
        if (how === "locked") clock = reading;
      }
    },
    distrust(tenants) {
      for (const tenant of tenants) distrusted.set(tenant, now());
    },
    moved(tenant, position) {
      const one = known.peek(tenant);
      if (one && one.head.syncId < position) known.delete(tenant);
    },
    forget: known.clear,
    use: known,
  };
}

/**
 * Creates assume only that the named records do not exist, and have not existed since the author's `readAt`. A record
 * that does not exist has no claims.
 */
const onlyCreates = ({ commits }: Job): boolean =>
  commits?.every(
    ({ operations, reads }) =>
      reads.length === 0 &&
      operations.every(
        ({ action, claim, fenceToken }) => action === "create" && claim === undefined && fenceToken === undefined,
      ),
  ) ?? false;
