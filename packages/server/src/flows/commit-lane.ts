import type { ErrorCode } from "@holdfast/sdk/protocol";
import { errorState, failureCode } from "../db/database-error.ts";
import { openPipe, type Pipe } from "../db/pipe.ts";
import { rollback } from "../db/statement.ts";
import type { Judged } from "../rules/round.ts";
import { type Batch, type Job, judgeAndSave, type Loaded, load } from "./commit-round.ts";
import type { SchemaCache } from "./schema-cache.ts";

/**
 *  request ─► idle? take all that wait ─► one transaction ─► the next round's load is sent ─► answer ─► announce
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
}

/** The first trip of a round, already on its way. */
interface Started {
  readonly jobs: readonly Job[];
  readonly loaded: Promise<{ pipe: Pipe; found: Loaded }>;
}

interface Finished {
  readonly results: readonly JobResult[];
  readonly batches: readonly Batch[];
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
  const waiting: Waiting[] = [];
  let pipe: Pipe | undefined;
  let running = false;
  let idle: (() => void) | undefined;
  let closed = false;

  async function connection(): Promise<Pipe> {
    if (!pipe?.usable) pipe = await openPipe(url);
    return pipe;
  }

  function start(jobs: readonly Job[]): Started {
    const trip = async (ready: Pipe) => ({ pipe: ready, found: await load(ready, jobs) });
    // On a warm connection the statements leave in this very tick, before anybody is answered.
    const loaded = pipe?.usable ? trip(pipe) : connection().then(trip);
    loaded.catch(() => {});
    return { jobs, loaded };
  }

  function take(): Waiting[] {
    let commits = 0;
    let count = 0;
    for (const { job } of waiting) {
      if (count > 0 && commits + job.length > maxCommits) break;
      commits += job.length;
      count++;
    }
    return waiting.splice(0, count);
  }

  async function run(): Promise<void> {
    running = true;
    let taken = take();
    let started = start(taken.map(({ job }) => job));
    while (taken.length > 0) {
      const { results, batches } = await finish(started, 1);
      const answered = taken;
      taken = take();
      if (taken.length > 0) started = start(taken.map(({ job }) => job));
      for (const [i, { resolve }] of answered.entries())
        resolve(results[i] ?? { kind: "failed", code: "internal_error" });
      for (const batch of batches) announce(batch);
    }
    // In the same tick in which nothing was found waiting: who comes now starts a new run.
    running = false;
    idle?.();
  }

  async function finish(round: Started, attempt: number): Promise<Finished> {
    try {
      const { pipe: ready, found } = await round.loaded;
      const { judged, batches } = await judgeAndSave(ready, schemas, round.jobs, found);
      return { results: judged.map((list) => ({ kind: "judged", judged: list })), batches };
    } catch (error) {
      // Nothing is known to be written. Asking again is safe: every commit is remembered under its names.
      if (pipe?.usable) await pipe.send([rollback]).catch(() => {});
      return await recover(round.jobs, error, attempt);
    }
  }

  async function recover(jobs: readonly Job[], error: unknown, attempt: number): Promise<Finished> {
    const parts = split(jobs, error);
    if (parts) return await inTurn(jobs, parts);
    const code = failureCode(error);
    if (code !== undefined && code !== "storage_full" && attempt < ATTEMPTS && !closed && !isRefusedConnection(error))
      return await finish(start(jobs), attempt + 1);
    report(error);
    return { results: jobs.map(() => ({ kind: "failed", code: code ?? "internal_error" })), batches: [] };
  }

  async function inTurn(jobs: readonly Job[], parts: readonly (readonly Job[])[]): Promise<Finished> {
    const results = new Map<Job, JobResult>();
    const batches: Batch[] = [];
    for (const part of parts) {
      const finished = await finish(start(part), 1);
      for (const [i, job] of part.entries()) results.set(job, finished.results[i] as JobResult);
      batches.push(...finished.batches);
    }
    return { results: jobs.map((job) => results.get(job) as JobResult), batches };
  }

  return {
    submit: (job) =>
      new Promise((resolve) => {
        if (closed || waiting.length >= maxWaiting) return resolve({ kind: "failed", code: "overloaded" });
        waiting.push({ job, resolve });
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

/** One world's lock must not stall the others, and one commit that breaks a round must fail alone. */
function split(jobs: readonly Job[], error: unknown): readonly (readonly Job[])[] | undefined {
  const worlds = new Set(jobs.map((job) => job[0]?.principal.world));
  if (worlds.size > 1 && errorState(error) === "55P03")
    return [...worlds].map((world) => jobs.filter((job) => job[0]?.principal.world === world));
  if (jobs.length > 1 && failureCode(error) === undefined) return jobs.map((job) => [job]);
  return undefined;
}

const isRefusedConnection = (error: unknown): boolean =>
  ["ECONNREFUSED", "ENOENT", "EACCES"].includes(errorState(error) ?? "");
