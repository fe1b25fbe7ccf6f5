import type { ErrorCode } from "@holdfast/sdk/protocol";
import { errorState, failureCode } from "../db/database-error.ts";
import { openPipe, type Pipe } from "../db/pipe.ts";
import { rollback } from "../db/statement.ts";
import type { Judged } from "../rules/round.ts";
import { type Batch, type Job, judgeRound, type Loaded, load, type RoundResult, save } from "./commit-round.ts";
import type { SchemaCache } from "./schema-cache.ts";

/**
 *  request ─► idle? take all that wait ─► load ─► judge ─► save, commit ─► the next round's load ─► answer ─► announce
 *             busy? wait: the next round takes you
 *
 * Every write ends here. The log of a world is one line under one head row, so its commits happen one after the other
 * whatever we do: the lane puts all that wait into one transaction. There is one lane for the whole process, since
 * the cost is per transaction, not per commit. No timer: a lonely write starts at once.
 */
export interface CommitLane {
  /** Never rejects: a database that is away is an answer too. */
  submit(job: Job): Promise<JobResult>;
  close(): Promise<void>;
}

export type JobResult =
  | { readonly kind: "judged"; readonly judged: readonly Judged[] }
  | { readonly kind: "failed"; readonly code: ErrorCode };

export interface LaneOptions {
  readonly url: string;
  readonly schemas: SchemaCache;
  /** Called after COMMIT, in log order for each world. */
  announce(batch: Batch): void;
  /** A fault of ours, or of the database, that a round ran into. */
  report(error: unknown): void;
  /** Commits in one transaction at most. */
  readonly maxCommits?: number;
  /** Requests that may wait; above that they are refused at once. */
  readonly maxWaiting?: number;
}

interface Waiting {
  readonly job: Job;
  readonly resolve: (result: JobResult) => void;
  readonly attempts: number;
  /** After a round that failed as a whole: to be tried with its own world's only, or all by itself. */
  readonly apart?: "by world" | "alone";
}

/** A round whose load is on its way. */
interface Started {
  readonly taken: readonly Waiting[];
  readonly loaded: Promise<{ pipe: Pipe; found: Loaded }>;
}

const ATTEMPTS = 3;

export function createCommitLane({
  url,
  schemas,
  announce,
  report,
  maxCommits = 128,
  maxWaiting = 10_000,
}: LaneOptions): CommitLane {
  let waiting: Waiting[] = [];
  let pipe: Pipe | undefined;
  let running = false;
  let idle: (() => void) | undefined;
  let closed = false;

  async function run(): Promise<void> {
    running = true;
    let round = start();
    while (round) {
      const { taken } = round;
      const judged = await judge(round);
      const committed = judged !== undefined && (await commit(taken, judged));
      // Who came meanwhile is on the way before anybody is answered. Sending that load already behind the commit
      // was tried: it makes rounds smaller, and the cost is per round.
      round = start();
      if (judged && committed) tell(taken, judged);
    }
    // In the same tick in which nothing was found waiting: who comes now starts a new run.
    running = false;
    idle?.();
  }

  /** Takes what waits and sends its load; on a warm connection the statements leave in this very tick. */
  function start(): Started | undefined {
    const taken = take();
    if (taken.length === 0) return undefined;
    const jobs = taken.map(({ job }) => job);
    const trip = async (ready: Pipe) => ({ pipe: ready, found: await load(ready, jobs) });
    const loaded = pipe?.usable ? trip(pipe) : connect().then(trip);
    // It is awaited when its turn comes; until then a failure is nobody's.
    loaded.catch(() => {});
    return { taken, loaded };
  }

  async function connect(): Promise<Pipe> {
    pipe = await openPipe(url);
    return pipe;
  }

  function take(): Waiting[] {
    const [first] = waiting;
    let commits = 0;
    let count = 0;
    for (const { job, apart } of waiting) {
      if (count > 0 && (commits + job.length > maxCommits || first?.apart === "alone" || apart !== first?.apart)) break;
      if (first?.apart === "by world" && worldOf(job) !== worldOf(first.job)) break;
      commits += job.length;
      count++;
    }
    return waiting.splice(0, count);
  }

  /** Undefined when it failed: then its jobs wait again, or were told. */
  async function judge({ taken, loaded }: Started): Promise<RoundResult | undefined> {
    try {
      const { pipe: ready, found } = await loaded;
      return await judgeRound(
        ready,
        schemas,
        taken.map(({ job }) => job),
        found,
      );
    } catch (error) {
      // Whatever the round had opened is taken back; nothing of another round is on this connection yet.
      if (pipe?.usable) await pipe.send([rollback]).catch(() => {});
      fail(taken, error);
      return undefined;
    }
  }

  /** False when it failed, or when nobody knows. */
  async function commit(taken: readonly Waiting[], judged: RoundResult): Promise<boolean> {
    try {
      await save(judged);
      return true;
    } catch (error) {
      fail(taken, error);
      return false;
    }
  }

  function tell(taken: readonly Waiting[], { judged, batches }: RoundResult): void {
    for (const [i, { resolve }] of taken.entries()) resolve({ kind: "judged", judged: judged[i] ?? [] });
    for (const batch of batches) announce(batch);
  }

  /**
   * A round failed as a whole. Trying again is safe even when it may have been committed: every commit is remembered
   * under its names. One world's lock must not stall the others, and one commit that breaks a round must fail alone.
   */
  function fail(taken: readonly Waiting[], error: unknown): void {
    const code = failureCode(error);
    const [first] = taken;
    const worlds = new Set(taken.map(({ job }) => worldOf(job)));
    if (worlds.size > 1 && errorState(error) === "55P03") return again(taken, "by world");
    if (taken.length > 1 && code === undefined) return again(taken, "alone");
    if (isWorthRetrying(error) && first && first.attempts < ATTEMPTS && !closed) return again(taken, first.apart);
    report(error);
    for (const { resolve } of taken) resolve({ kind: "failed", code: code ?? "internal_error" });
  }

  function again(taken: readonly Waiting[], apart: Waiting["apart"]): void {
    const once = taken.map((one) => ({ ...one, attempts: one.attempts + 1, ...(apart && { apart }) }));
    if (apart === "by world") once.sort((a, b) => worldOf(a.job) - worldOf(b.job));
    waiting = [...once, ...waiting];
  }

  return {
    submit: (job) =>
      new Promise((resolve) => {
        if (closed || waiting.length >= maxWaiting) return resolve({ kind: "failed", code: "overloaded" });
        waiting.push({ job, resolve, attempts: 1 });
        if (!running) void run();
      }),
    async close() {
      closed = true;
      if (running)
        await new Promise<void>((resolve) => {
          idle = resolve;
        });
      await pipe?.close();
    },
  };
}

const worldOf = (job: Job): number => job[0]?.principal.world ?? 0;

/** The database is there but was busy, or the connection broke; one that cannot be had now is not asked for at once. */
function isWorthRetrying(error: unknown): boolean {
  const code = failureCode(error);
  return (
    (code === "overloaded" || code === "unavailable") &&
    !["ECONNREFUSED", "ENOENT", "EACCES"].includes(errorState(error) ?? "")
  );
}
