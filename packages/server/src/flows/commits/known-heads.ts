import type { LockedHead } from "../../db/commits/heads.ts";
import { createSizedCache, type SizedCache } from "../sized-cache.ts";
import { type Job, tenantOf } from "./load-round.ts";

/**
 * The heads that this process left behind a moment ago. A round of creates can be judged by them before the database has
 * answered anything, not even the round before: it asks for nothing, and is refused as a whole where that was wrong.
 */
export interface KnownHeads extends Pick<SizedCache<number, Known>, "hits" | "misses" | "bytes"> {
  /** The heads of the jobs' tenants, in the order of their numbers: when all are known, and the jobs ask for no more. */
  expect(jobs: readonly Job[]): LockedHead[] | undefined;
  /** What a round makes of heads that it locked, or that it expects. */
  learn(heads: readonly LockedHead[], how: "locked" | "expected"): void;
  /** A round failed, so what was learnt of it is not so; perhaps somebody else writes there. They are looked at for a while. */
  distrust(tenants: Iterable<number>): void;
  /** Another process says how far it wrote. */
  moved(tenant: number, position: number): void;
  forget(): void;
}

/** How long after a look at the database's clock a time may be given without another: it runs on by ours until then. */
const CLOCK_MS = 1_000;
/** A head is locked and looked at again after so long. */
const KNOWN_MS = 600_000;
/** Our clock may differ so much from the database's since a head was looked at. A head may also lie ahead of all clocks. */
const DRIFT_MS = 250;
const DISTRUST_MS = 1_000;
const USUAL_BYTES = 16 * 2 ** 20;
/** About what one head takes in memory. */
const HEAD_BYTES = 600;

interface Known {
  readonly head: LockedHead;
  readonly look: Look;
}

/** When a head was locked (ms since 1970, the clock of this machine), and the database's time then. */
interface Look {
  readonly at: number;
  readonly databaseMs: number;
}

/** `now`: milliseconds since 1970. */
export function createKnownHeads(now: () => number, maxBytes = USUAL_BYTES): KnownHeads {
  const known = createSizedCache<number, Known>(maxBytes, () => HEAD_BYTES);
  const distrusted = new Map<number, number>();
  /** The database's time at the last look at any tenant: it has one clock. */
  let clock: Look | undefined;

  function databaseNow(): number | undefined {
    const age = clock ? now() - clock.at : CLOCK_MS;
    return clock && age >= 0 && age < CLOCK_MS ? clock.databaseMs + age : undefined;
  }

  function headOf(tenant: number, databaseMs: number): LockedHead | undefined {
    if (distrusted.has(tenant)) return undefined;
    const { head, look } = known.get(tenant) ?? {};
    if (!head || !look) return undefined;
    const age = now() - look.at;
    if (age < 0 || age >= KNOWN_MS || Math.abs(look.databaseMs + age - databaseMs) > DRIFT_MS) return undefined;
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
        const look = how === "expected" && before ? before.look : { at: now(), databaseMs: Date.parse(head.now) };
        known.set(head.tenant, { head, look });
        if (how === "locked") clock = look;
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
    get hits() {
      return known.hits;
    },
    get misses() {
      return known.misses;
    },
    get bytes() {
      return known.bytes;
    },
  };
}

/**
 * They ask for nothing but that what they name is not there yet, and was not since their writer looked; what is not
 * there, nobody can have claimed.
 */
const onlyCreates = ({ commits }: Job): boolean =>
  commits?.every(
    ({ operations, reads }) =>
      reads.length === 0 &&
      operations.every(
        ({ action, claim, fenceToken }) => action === "create" && claim === undefined && fenceToken === undefined,
      ),
  ) ?? false;
