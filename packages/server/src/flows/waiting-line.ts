import type { ErrorCode } from "@holdfast/sdk/protocol";
import type { Outcome } from "./commit-round.ts";
import { type Job, worldOf } from "./load-round.ts";

/** A job that waits for a round, or is in one. */
export interface Waiting {
  readonly job: Job;
  readonly resolve: (result: Outcome | ErrorCode) => void;
  /** When it came (ms, monotonic). */
  readonly since: number;
  readonly attempts: number;
  /** After a round that failed as a whole: to be tried with its own world's only, or all by itself. */
  readonly apart?: "by world" | "alone";
}

/** Who waits for a round, in the order in which they came. */
export interface WaitingLine {
  readonly length: number;
  join(job: Job, resolve: Waiting["resolve"]): void;
  /** The first that may be tried, and what waits behind it and may share its round. The others keep their places. */
  take(): Waiting[];
  /** Their round failed: first in the line again. */
  again(taken: readonly Waiting[], apart?: Waiting["apart"]): void;
  /** Nothing came of their round, and nothing was wrong with them: that was no attempt. */
  putBack(taken: readonly Waiting[]): void;
  /**
   * Somebody else holds the head of their world: they step aside for a moment, so that others need not wait for them.
   * Answers those whose patience is over; all, when nobody may wait any more.
   */
  letRest(taken: readonly Waiting[], closed: boolean): Waiting[];
}

/** How long a world is left alone whose head somebody else holds. */
export const REST_MS = 300;
/** A commit that waited this long for its world's head is told to come again. */
const PATIENCE_MS = 5_000;

/** `maxCommits`: in one round. */
export function createWaitingLine(maxCommits: number): WaitingLine {
  let waiting: Waiting[] = [];
  /** Until when worlds are left alone. */
  const resting = new Map<number, number>();

  function again(taken: readonly Waiting[], apart?: Waiting["apart"]): void {
    const once = taken.map((one) => ({ ...one, attempts: one.attempts + 1, ...(apart && { apart }) }));
    waiting = [...once, ...waiting];
  }

  return {
    get length() {
      return waiting.length;
    },
    join: (job, resolve) => void waiting.push({ job, resolve, since: performance.now(), attempts: 1 }),
    take() {
      const now = performance.now();
      const taken: Waiting[] = [];
      const left: Waiting[] = [];
      let commits = 0;
      for (const one of waiting) {
        const fits =
          taken.length === 0 || (commits + sizeOf(one.job) <= maxCommits && mayShare(taken[0] as Waiting, one));
        if (!fits || (resting.get(worldOf(one.job)) ?? 0) > now) left.push(one);
        else {
          commits += sizeOf(one.job);
          taken.push(one);
        }
      }
      waiting = left;
      return taken;
    },
    again,
    putBack(taken) {
      waiting = [...taken, ...waiting];
    },
    letRest(taken, closed) {
      const now = performance.now();
      const world = worldOf((taken[0] as Waiting).job);
      resting.set(world, now + REST_MS);
      setTimeout(() => resting.delete(world), REST_MS).unref();
      const isOver = ({ since }: Waiting) => closed || now - since > PATIENCE_MS;
      const patient = taken.filter((one) => !isOver(one));
      again(patient, "by world");
      return taken.filter(isOver);
    },
  };
}

/**
 * Whether a round of those who wait may be sent behind another: when they are half of all who are here, so that there are
 * two rounds, one with the database and one with us or our callers. Sooner it makes rounds smaller, and the cost is per
 * round; so one alone is never sent, but waits for company until its turn.
 */
export function mayGoBehind(waiting: number, present: number, maxCommits: number): boolean {
  const size = Math.min(waiting, maxCommits);
  return size >= 2 && size >= Math.min(present / 2, maxCommits);
}

const sizeOf = ({ commits }: Job): number => commits?.length ?? 1;

/** Whether one that waits may be in a round with the first of it. */
const mayShare = (first: Waiting, one: Waiting): boolean =>
  first.apart === one.apart &&
  first.apart !== "alone" &&
  (first.apart === undefined || worldOf(first.job) === worldOf(one.job));
