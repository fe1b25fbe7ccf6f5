import type { LockedHead } from "../db/heads.ts";
import { type Job, worldOf } from "./load-round.ts";

/**
 * The heads that this process left behind a moment ago. A round of creates can be judged by them before the database has
 * answered anything, not even the round before: it asks for nothing, and is refused as a whole where that was wrong.
 */
export interface KnownHeads {
  /** The heads of the jobs' worlds, in the order of their numbers: when all are known, and the jobs ask for no more. */
  expect(jobs: readonly Job[]): LockedHead[] | undefined;
  /** What a round makes of heads that it locked, or that it expects. */
  learn(heads: readonly LockedHead[], how: "locked" | "expected"): void;
  /** A round failed, so what was learnt of it is not so; perhaps somebody else writes there. They are looked at for a while. */
  distrust(worlds: Iterable<number>): void;
}

/** How long after a look a world may be judged without another: its clock runs on by ours until then. */
const KNOWN_MS = 1_000;
const DISTRUST_MS = 1_000;
const MOST_WORLDS = 1_000;

interface Known {
  readonly head: LockedHead;
  /** When it was last looked at (ms since 1970, the clock of this machine), and the database's time then. */
  readonly lookedAt: number;
  readonly databaseMs: number;
}

/** `now`: milliseconds since 1970. */
export function createKnownHeads(now: () => number): KnownHeads {
  const known = new Map<number, Known>();
  const distrusted = new Map<number, number>();

  function headOf(world: number): LockedHead | undefined {
    const one = known.get(world);
    if (!one || distrusted.has(world)) return undefined;
    const age = now() - one.lookedAt;
    if (age < 0 || age >= KNOWN_MS) return undefined;
    const time = Math.max(one.databaseMs + age, Date.parse(one.head.now));
    return { ...one.head, now: new Date(time).toISOString() };
  }

  function letExpire(): void {
    for (const [world, since] of distrusted) if (Math.abs(now() - since) >= DISTRUST_MS) distrusted.delete(world);
  }

  return {
    expect(jobs) {
      if (!jobs.every(onlyCreates)) return undefined;
      letExpire();
      const heads: LockedHead[] = [];
      for (const world of [...new Set(jobs.map(worldOf))].sort((a, b) => a - b)) {
        const head = headOf(world);
        if (!head) return undefined;
        heads.push(head);
      }
      return heads;
    },
    learn(heads, how) {
      for (const head of heads) {
        const before = known.get(head.world);
        const look = how === "expected" && before ? before : { lookedAt: now(), databaseMs: Date.parse(head.now) };
        const oldest = known.keys().next();
        if (!before && known.size >= MOST_WORLDS && !oldest.done) known.delete(oldest.value);
        known.set(head.world, { lookedAt: look.lookedAt, databaseMs: look.databaseMs, head });
      }
    },
    distrust(worlds) {
      for (const world of worlds) distrusted.set(world, now());
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
      reads.length === 0 && operations.every(({ action, claim }) => action === "create" && claim === undefined),
  ) ?? false;
