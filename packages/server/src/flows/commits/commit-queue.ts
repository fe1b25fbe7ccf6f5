import type { ErrorCode } from "@holdfast/sdk/protocol";
import { createFairQueue } from "../../limits/fair-queue.ts";
import type { Outcome } from "./commit-round.ts";
import { type Job, tenantOf, tokenOf } from "./load-round.ts";

/** A job that waits for a round, or is in one. */
export interface Waiting {
  readonly job: Job;
  readonly resolve: (result: Outcome | ErrorCode) => void;
  /** When it came (ms, monotonic). */
  readonly since: number;
  readonly attempts: number;
  /** After a round that failed as a whole: to be tried with its own tenant's only, or all by itself. */
  readonly apart?: "by tenant" | "alone";
}

/** Who waits for a round: tenants take turns, and within a tenant its tokens. */
export interface CommitQueue {
  readonly length: number;
  join(one: Waiting): void;
  /** Those whose turn it is and who may share a round. The others keep their places. */
  take(): Waiting[];
  /** Their round failed: first in the line again. */
  again(taken: readonly Waiting[], apart?: Waiting["apart"]): void;
  /** Nothing came of their round, and nothing was wrong with them: that was no attempt. */
  putBack(taken: readonly Waiting[]): void;
  /**
   * Another process holds the head of their tenant: they wait aside, each time longer, so that others need not wait for
   * them. Answers those whose patience is over; all, when nobody may wait any more.
   */
  letRest(taken: readonly Waiting[], closed: boolean): Waiting[];
  /** In how many milliseconds a tenant that rests may be tried again; undefined: none rests. */
  nextIn(): number | undefined;
}

export interface CommitQueueBounds {
  /** In one round. */
  readonly maxCommits: number;
  /** Of request bodies in one round; a larger one is alone. */
  readonly maxBytes: number;
  /** Operations and premises in one round: each may be about a record of its own. A job with more is alone. */
  readonly maxNames: number;
}

/** How long a tenant is left alone whose head another process holds: the first time, and at most. */
export const REST_MS = 300;
const LONGEST_REST_MS = 2_400;
/** A commit that waited this long for its tenant's head is told to come again. */
const PATIENCE_MS = 5_000;

interface Rest {
  readonly until: number;
  readonly ms: number;
}

export function createCommitQueue({ maxCommits, maxBytes, maxNames }: CommitQueueBounds): CommitQueue {
  const fresh = createFairQueue<Waiting>();
  /** Those of rounds that failed. */
  let returned: Waiting[] = [];
  /** Tenants that are left alone. One that was free again is forgotten. */
  const resting = new Map<number, Rest>();

  function isResting(tenant: number, now: number): boolean {
    return (resting.get(tenant)?.until ?? 0) > now;
  }

  return {
    get length() {
      return fresh.size + returned.length;
    },
    join: (one) => fresh.push(tenantOf(one.job), tokenOf(one.job), one),
    take() {
      const now = performance.now();
      const taken: Waiting[] = [];
      let [commits, bytes, names] = [0, 0, 0];
      const fits = (one: Waiting): boolean => {
        const tenant = tenantOf(one.job);
        if (isResting(tenant, now)) return false;
        const [first] = taken;
        if (!first) return true;
        if (commits + sizeOf(one.job) > maxCommits || bytes + bytesOf(one.job) > maxBytes) return false;
        if (names + namesIn(one.job) > maxNames) return false;
        return mayShare(first, one);
      };
      const add = (one: Waiting): void => {
        commits += sizeOf(one.job);
        bytes += bytesOf(one.job);
        names += namesIn(one.job);
        taken.push(one);
      };
      returned = returned.filter((one) => {
        if (!fits(one)) return true;
        add(one);
        return false;
      });
      fresh.take(
        (one) => {
          const may = fits(one);
          if (may) add(one);
          return may;
        },
        () => commits < maxCommits && bytes < maxBytes && taken[0]?.apart === undefined,
      );
      return taken;
    },
    again(taken, apart) {
      const once = taken.map((one) => ({ ...one, attempts: one.attempts + 1, ...(apart && { apart }) }));
      returned = [...once, ...returned];
    },
    putBack(taken) {
      returned = [...taken, ...returned];
    },
    letRest(taken, closed) {
      const now = performance.now();
      const tenant = tenantOf((taken[0] as Waiting).job);
      const ms = Math.min(2 * (resting.get(tenant)?.ms ?? REST_MS / 2), LONGEST_REST_MS);
      resting.set(tenant, { until: now + ms, ms });
      setTimeout(() => forget(tenant), 2 * ms).unref();
      const isOver = ({ since }: Waiting) => closed || now - since > PATIENCE_MS;
      const patient = taken.filter((one) => !isOver(one));
      // Behind whoever else was returned: no tenant comes back to the front.
      returned = [...returned, ...patient.map((one) => ({ ...one, apart: "by tenant" as const }))];
      return taken.filter(isOver);
    },
    nextIn() {
      const now = performance.now();
      const left = [...resting.values()].map(({ until }) => until - now).filter((ms) => ms > 0);
      return left.length === 0 ? undefined : Math.min(...left);
    },
  };

  function forget(tenant: number): void {
    if (!isResting(tenant, performance.now())) resting.delete(tenant);
  }
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

export const sizeOf = ({ commits, judged }: Job): number => (commits ? commits.length - (judged?.length ?? 0) : 1);
export const bytesOf = ({ bytes }: Job): number => bytes ?? 0;

const namesIn = ({ commits }: Job): number =>
  commits?.reduce((sum, { operations, reads }) => sum + operations.length + reads.length, 0) ?? 1;

/** Whether one that waits may be in a round with the first of it. */
const mayShare = (first: Waiting, one: Waiting): boolean =>
  first.apart === one.apart &&
  first.apart !== "alone" &&
  (first.apart === undefined || tenantOf(first.job) === tenantOf(one.job));
