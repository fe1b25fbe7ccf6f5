import { setTimeout as pause } from "node:timers/promises";
import type { Line } from "./report.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** One kind of what happens during a run: a fault, or a change by an owner. */
export interface Act {
  readonly says: string;
  /** Its weight among all; 0: only where it is asked for. */
  readonly often: number;
  /** False: it could not happen. */
  act(): Promise<unknown>;
}

interface Pace {
  readonly everyMs: number;
  isOver(): boolean;
}

export interface RandomActs<Kind extends string> {
  /** How often each has happened. */
  readonly done: Readonly<Record<Kind, number>>;
  /** One at a time: this one, or any. */
  one(kind?: Kind): Promise<void>;
  /** First these, all of them, then random ones until it is over. Without a pace there are none. `tell` says how far the run is. */
  repeat(
    pace: Omit<Pace, "everyMs"> & {
      readonly everyMs?: number | undefined;
      readonly first?: readonly Kind[] | undefined;
      tell?(): void;
    },
  ): Promise<void>;
  sum(): number;
  lines(): readonly Line[];
}

export function createRandomActs<Kind extends string>(
  acts: Readonly<Record<Kind, Act>>,
  chance: SeededRandom,
): RandomActs<Kind> {
  const kinds = Object.keys(acts) as Kind[];
  const done = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>;
  const weights = Object.fromEntries(kinds.map((kind) => [kind, acts[kind].often])) as Record<Kind, number>;
  async function one(kind = chance.weighed(weights)): Promise<void> {
    if ((await acts[kind].act()) !== false) done[kind] += 1;
  }
  return {
    done,
    one,
    async repeat({ everyMs = Number.POSITIVE_INFINITY, first = [], isOver, tell = () => {} }) {
      await Promise.all([
        repeat({ everyMs, isOver, least: first.length }, (n) => one(first[n])),
        repeat({ everyMs: PROGRESS_MS, isOver }, tell),
      ]);
    },
    sum: () => kinds.reduce((sum, kind) => sum + done[kind], 0),
    lines: () => kinds.map((kind) => [acts[kind].says, done[kind]]),
  };
}

const POLL_MS = 50;
const PROGRESS_MS = 5_000;

/** Does the work every so often until it is over, and at least `least` times. */
async function repeat(
  { everyMs, isOver, least = 0 }: Pace & { readonly least?: number },
  work: (n: number) => unknown,
): Promise<void> {
  for (let n = 0; ; n++) {
    const ends = () => n >= least && isOver();
    for (const next = performance.now() + everyMs; performance.now() < next && !ends(); ) await pause(POLL_MS);
    if (ends()) return;
    await work(n);
  }
}
