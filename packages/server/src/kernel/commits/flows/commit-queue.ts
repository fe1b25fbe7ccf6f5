import type { ErrorCode } from "@holdfast/sdk/protocol";
import { createFairQueue } from "../../limits/fair-queue.ts";
import { type Job, tenantOf, tokenOf } from "./job.ts";
import type { JobOutcome } from "./round-outcome.ts";

/** A job that waits for a round or is in one. */
export interface Waiting {
  readonly job: Job;
  readonly resolve: (result: JobOutcome | ErrorCode) => void;
  /** When the job arrived (ms, monotonic). */
  readonly since: number;
  readonly attempts: number;
  /** Set after a round failed as a whole: run the job only with jobs of its tenant, or alone. */
  readonly apart?: "by tenant" | "alone";
}

/** The jobs that wait for a round, in fair order: round-robin over tenants, and over the tokens within a tenant. */
export interface CommitQueue {
  readonly length: number;
  join(one: Waiting): void;
  /** Takes the next jobs that may share a round. The others keep their positions. */
  take(): Waiting[];
  /** Puts the jobs of a failed round back at the front and counts an attempt. */
  again(taken: readonly Waiting[], apart?: Waiting["apart"]): void;
  /** Puts jobs back at the front without counting an attempt: their round did not run, through no fault of theirs. */
  putBack(taken: readonly Waiting[]): void;
  /**
   * Sets aside a tenant whose head is locked by another process, each time for longer, so that other tenants do not
   * wait for it. Returns the jobs to refuse: those past their timeout, or all if the lane is closed.
   */
  letRest(taken: readonly Waiting[], closed: boolean): Waiting[];
  /** Milliseconds until the first tenant that was set aside may run again. Undefined if there is none. */
  nextIn(): number | undefined;
}

export interface CommitQueueBounds {
  /** Most commits in one round. */
  readonly maxCommits: number;
  /** Most bytes of request bodies in one round. A larger request runs alone. */
  readonly maxBytes: number;
  /** Most operations and premises in one round: each may name a different record. A larger job runs alone. */
  readonly maxNames: number;
  /** Only jobs of one tenant share a round. */
  readonly byTenant?: boolean;
}

/** How long a tenant with a locked head is set aside: the first time, and at most. */
export const REST_MS = 300;
const LONGEST_REST_MS = 2_400;
/** A commit that has waited this long for its tenant's head is refused; the client retries it. */
export const PATIENCE_MS = 5_000;

interface Rest {
  readonly until: number;
  readonly ms: number;
}

export function createCommitQueue({
  maxCommits,
  maxBytes,
  maxNames,
  byTenant = false,
}: CommitQueueBounds): CommitQueue {
  const fresh = createFairQueue<Waiting>();
  /** Jobs of failed rounds. */
  let returned: Waiting[] = [];
  /** Tenants that are set aside. An entry is deleted some time after the head was free again. */
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
        if (byTenant && tenantOf(first.job) !== tenant) return false;
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
      // Behind the jobs of other tenants that came back, so that no tenant returns to the front.
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
 * Whether the waiting jobs may be sent as a round behind another one: only if they are half of all requests present.
 * Then one round is in the database while the other's clients get their responses. A lower bound would make rounds
 * smaller, and the cost is per round. A single job is never sent behind; it waits for the next round.
 */
export function mayGoBehind(waiting: number, present: number, maxCommits: number): boolean {
  const size = Math.min(waiting, maxCommits);
  return size >= 2 && size >= Math.min(present / 2, maxCommits);
}

export const sizeOf = ({ commits, judged }: Job): number => (commits ? commits.length - (judged?.length ?? 0) : 1);
export const bytesOf = ({ bytes }: Job): number => bytes ?? 0;

const namesIn = ({ commits }: Job): number =>
  commits?.reduce((sum, { operations, reads }) => sum + operations.length + reads.length, 0) ?? 1;

/** Whether a waiting job may be in a round with the round's first job. */
const mayShare = (first: Waiting, one: Waiting): boolean =>
  first.apart === one.apart &&
  first.apart !== "alone" &&
  (first.apart === undefined || tenantOf(first.job) === tenantOf(one.job));
