import { errorState, failureCode, LOCK_NOT_AVAILABLE, UNIQUE_VIOLATION } from "../../connection/database-error.ts";
import { openPipe, type Pipe, type PipeOptions } from "../../connection/pipe.ts";
import { probe, rollback } from "../../connection/statement.ts";
import { freeHeads } from "../db/heads.ts";
import { UNEXPECTED } from "../db/save-creates.ts";
import { TenantElsewhere } from "../db/tenant-elsewhere.ts";
import {
  type CommitQueueBounds,
  createCommitQueue,
  mayGoBehind,
  PATIENCE_MS,
  REST_MS,
  type Waiting,
} from "./commit-queue.ts";
import { judgeExpected, save } from "./commit-round.ts";
import type { RoundRules, Rounds } from "./in-rounds.ts";
import { type Job, tenantOf } from "./job.ts";
import type { KnownHeads } from "./known-heads.ts";
import { isComplete, type RoundOutcome, withoutValues } from "./round-outcome.ts";
import type { Changed, CommittedBatch, Drained, RoundResult } from "./round-result.ts";

/**
 * A lane runs all writes, and all changes of claims, in rounds. One round is one database transaction:
 *
 *   join ─► idle: take all waiting jobs ─► load ─► judge ─► save + COMMIT ─► start the next round ─► answer ─► announce
 *           busy: wait for the next round   │        ↑        └─ the next round may be sent behind this COMMIT
 *                                           └────────┘ creates only: judge by the expected head, which the save verifies
 *
 * The log of a tenant is ordered by one head row, and its lock serializes the tenant's commits in any case. The cost is
 * per transaction, not per commit, so a round takes every job that waits. There is no timer: a single write starts at
 * once. `commit-lanes.ts` decides which lane a job takes; any lane can run any job.
 *
 * A round that fails as a whole is run again: see `fail`. That is safe even if its COMMIT has arrived, because each
 * commit leaves a receipt under its names.
 */
export interface Lane {
  join(one: Waiting): void;
  /** Whether the connection that commits works. */
  canCommit(): Promise<boolean>;
  /** Requests that wait for a round. */
  readonly waiting: number;
  close(): Promise<void>;
}

export interface LaneOptions<Found> {
  readonly url: string;
  readonly rules: RoundRules;
  readonly rounds: Rounds<Found>;
  readonly known: KnownHeads;
  /** Called after COMMIT, in log order for each tenant. */
  announce(batch: CommittedBatch): void;
  /** Called after COMMIT with what a module had drained before the round; its batch comes next. */
  publishDrained(tenant: number, drained: Drained): void;
  /** Called after COMMIT with what modules have changed. */
  announceChange(change: Changed): void;
  /** Called after COMMIT with the age of the round's first request, in milliseconds. */
  took(ms: number): void;
  /** Called with every internal or database error that made a round fail. */
  report(error: unknown): void;
  /** Another process holds the lock of this tenant's head. Returns true if another lane has taken the jobs. */
  headIsHeld(jobs: readonly Waiting[]): boolean;
  headsWereFree(tenants: readonly number[]): void;
  /** Postgres was slow for a round of this tenant alone. */
  isSlow(tenant: number): void;
  /** A module runs the rounds of this job's tenant itself. Another lane takes the job. */
  isRunBy(module: string, one: Waiting): void;
  /** The records that these jobs name did not fit into the round. Returns true if another lane has taken the jobs. */
  areLarge(jobs: readonly Waiting[]): boolean;
  readonly bounds: CommitQueueBounds;
  /** How long a round waits for a head that another process holds. */
  readonly lockMs: number;
  /** Runs on each new connection before the first commit. */
  readonly verify?: PipeOptions["verify"];
  /** Connect at once instead of with the first job. */
  readonly eager: boolean;
}

/** A round in progress. Its load was sent, or, if it needs no load, already its save. */
type Started<Found> = { readonly taken: readonly Waiting[] } & (
  | { readonly loaded: Promise<{ pipe: Pipe; found: Found }> }
  | { readonly expected: RoundResult; readonly saved: Promise<unknown> }
);

const ATTEMPTS = 3;
/** How soon to try again to write a row that another transaction has locked. */
const LOCKED_MS = 20;
/** If a round of a single tenant takes Postgres longer than this, the tenant counts as slow. */
const SLOW_MS = 150;

export function createLane<Found>(options: LaneOptions<Found>): Lane {
  const { url, rules, rounds, known, announce, announceChange, took, report, bounds } = options;
  const waiting = createCommitQueue(bounds);
  let pipe: Pipe | undefined;
  let connecting: Promise<Pipe> | undefined;
  let running = false;
  let isSaving = false;
  /** The round that was sent behind the COMMIT of the round that is being saved. */
  let behind: Started<Found> | undefined;
  /**
   * Requests that were in this lane when the last round was answered: its own, and those that waited or were in
   * progress.
   */
  let present = 0;
  let waking: NodeJS.Timeout | undefined;
  /** Jobs that write a row which another transaction has locked. */
  const locked: Waiting[] = [];
  let unlocking: NodeJS.Timeout | undefined;
  let idle: (() => void) | undefined;
  let closed = false;

  async function run(): Promise<void> {
    running = true;
    let round = start();
    while (round) {
      const { taken } = round;
      // The time to open the connection does not count as a slow round.
      if (connecting) await connecting.catch(() => {});
      const begun = performance.now();
      const result = await finish(round);
      if (performance.now() - begun > SLOW_MS) blame(taken);
      if (result) requeueUnfinished(taken, result.outcomes);
      // Start the next round before answering this one, so that requests which arrived meanwhile do not wait for the
      // responses to be written.
      round = behind ?? start();
      behind = undefined;
      if (!result) continue;
      options.headsWereFree(result.heads.map(({ tenant }) => tenant));
      present = taken.length + (round?.taken.length ?? 0) + waiting.length;
      took(performance.now() - (taken[0] as Waiting).since);
      notify(taken, result);
    }
    // Same tick as the empty `start()` above: a job that joins from now on starts a new run.
    running = false;
    if (waiting.length === 0) idle?.();
    else wakeLater();
  }

  /**
   * Takes the waiting jobs and sends their load or save. On an open connection the statements are sent in this same
   * tick.
   */
  function start(): Started<Found> | undefined {
    const taken = waiting.take();
    if (taken.length === 0) return undefined;
    const jobs = taken.map(({ job }) => job);
    const expected = expect(jobs);
    if (expected) return { taken, ...expected };
    const trip = async (ready: Pipe) => ({ pipe: ready, found: await rounds.load(ready, jobs) });
    const loaded = pipe?.usable ? trip(pipe) : connect().then(trip);
    // Awaited later, in `finish`. Until then a failure must not count as an unhandled rejection.
    loaded.catch(() => {});
    return { taken, loaded };
  }

  /** Judges a round by known heads and sends its save at once. Undefined if the round has to load something first. */
  function expect(jobs: readonly Job[]): { expected: RoundResult; saved: Promise<unknown> } | undefined {
    const heads = pipe?.usable ? known.expect(jobs) : undefined;
    if (!pipe || !heads) return undefined;
    try {
      const expected = judgeExpected(pipe, rules, jobs, heads);
      if (!expected) return undefined;
      const saved = save(expected);
      saved.catch(() => {});
      known.learn(expected.heads, "expected");
      return { expected, saved };
    } catch {
      // The round runs again with loaded data. If the bug occurs there too, it is reported there.
      return undefined;
    }
  }

  /** Starts a round while another is being saved, so that the database does not idle between the two. */
  function startBehind(): void {
    if (!isSaving || behind || !pipe?.usable) return;
    if (mayGoBehind(waiting.length, present, bounds.maxCommits)) behind = start();
  }

  function connect(): Promise<Pipe> {
    connecting ??= openPipe(url, { lockTimeoutMs: options.lockMs, verify: options.verify })
      .then((opened) => {
        pipe = opened;
        return opened;
      })
      .finally(() => {
        connecting = undefined;
      });
    return connecting;
  }

  /** Uses the lane's own connection: the pool can be healthy while this connection is not. */
  async function canCommit(): Promise<boolean> {
    try {
      const ready = pipe?.usable ? pipe : await connect();
      await ready.send([probe]);
      return true;
    } catch (error) {
      // A round on this connection failed and is being rolled back, so the database does respond.
      return errorState(error) === ABORTED;
    }
  }

  /** Undefined if the round failed. Its jobs then wait again or have been answered. */
  async function finish(round: Started<Found>): Promise<RoundResult | undefined> {
    try {
      const { result, saved } = "saved" in round ? { result: round.expected, saved: round.saved } : await judged(round);
      isSaving = true;
      startBehind();
      await saved;
      return result;
    } catch (error) {
      // Roll back whatever transaction is still open. Not during a save: it ends with COMMIT, which ends its
      // transaction even if it failed, and a transaction that is open behind it belongs to the next round.
      if (!isSaving && pipe?.usable) await pipe.send([rollback]).catch(() => {});
      known.distrust(round.taken.map(({ job }) => tenantOf(job)));
      await fail(round, error);
      return undefined;
    } finally {
      isSaving = false;
    }
  }

  async function judged({ taken, loaded }: Extract<Started<Found>, { loaded: unknown }>) {
    const { pipe: ready, found } = await loaded;
    const jobs = taken.map(({ job }) => job);
    const result = await rounds.judge(ready, jobs, found);
    known.learn(result.heads, "locked");
    return { result, saved: save(result) };
  }

  function notify(taken: readonly Waiting[], { outcomes, drained, heads, batches, changed }: RoundResult): void {
    for (const [i, { job, resolve }] of taken.entries()) {
      const outcome = outcomes[i];
      if (!outcome) resolve("internal_error");
      else if (!("runBy" in outcome) && isComplete(job, outcome)) resolve(outcome);
    }
    // Announce after the responses, which are written at the end of this tick: a client that both writes and listens
    // gets its response first.
    process.nextTick(() => {
      for (const { tenant } of heads) if (drained) harmless(() => options.publishDrained(tenant, drained));
      for (const batch of batches) harmless(() => announce(batch));
      for (const change of changed) harmless(() => announceChange(change));
    });
  }

  /** The commits that did not fit into the round wait again, in fair order with the other tenants. */
  function requeueUnfinished(taken: readonly Waiting[], outcomes: readonly RoundOutcome[]): void {
    const left = taken.flatMap((one, i) => {
      const outcome = outcomes[i];
      if (!outcome) return [];
      if ("runBy" in outcome) {
        options.isRunBy(outcome.runBy, one);
        return [];
      }
      if (!outcome.commits || isComplete(one.job, outcome)) return [];
      const job = { ...one.job, judged: outcome.commits.map(withoutValues) } as Job;
      return { isLocked: outcome.isLocked === true, one: { ...one, job } };
    });
    letWait(left.flatMap(({ isLocked, one }) => (isLocked ? one : [])));
    const unfinished = left.flatMap(({ isLocked, one }) => (isLocked ? [] : one));
    if (unfinished.length === 0) return;
    // A round always judges its first commit. So jobs with no judged commit go first in the next round.
    const isFresh = (one: Waiting) => one.job.judged?.length === 0;
    const inOrder = [...unfinished.filter(isFresh), ...unfinished.filter((one) => !isFresh(one))];
    if (!closed && options.areLarge(inOrder)) return;
    for (const one of inOrder) waiting.join(one);
  }

  /**
   * The round is committed and answered. If a listener throws, clients still find the entries in the database, and the
   * lane continues.
   */
  function harmless(publish: () => void): void {
    try {
      publish();
    } catch (error) {
      report(error);
    }
  }

  /**
   * Handles a round that failed as a whole. A retry is safe even if the round was committed, because the receipts of
   * its commits are stored. Jobs that fail without a database error code are retried one by one, so that one bad commit
   * does not fail the others.
   */
  async function fail(round: Started<Found>, error: unknown): Promise<void> {
    const { taken } = round;
    const tenants = new Set(taken.map(({ job }) => tenantOf(job)));
    // `finish` has marked its tenants as distrusted, so the retry loads their heads.
    if ("expected" in round && MISTAKEN.has(errorState(error) ?? "")) return waiting.putBack(taken);
    if (errorState(error) === LOCK_NOT_AVAILABLE)
      return tenants.size > 1 ? await splitHeld(taken, [...tenants]) : letRest(taken);
    if (error instanceof TenantElsewhere && tenants.size > 1) return waiting.again(taken, "by tenant");
    const code = failureCode(error);
    if (taken.length > 1 && code === undefined) return waiting.again(taken, "alone");
    const mayRetry = isWorthRetrying(error) && !closed && taken.every(({ attempts }) => attempts < ATTEMPTS);
    if (mayRetry) return waiting.again(taken);
    report(error);
    for (const { resolve } of taken) resolve(code ?? "internal_error");
  }

  /**
   * A slow round is attributed only if it had a single tenant. Splitting a slow round by tenant would find the cause
   * too, but would slow down a machine that is slow for every tenant even more.
   */
  function blame(taken: readonly Waiting[]): void {
    const tenants = new Set(taken.map(({ job }) => tenantOf(job)));
    if (tenants.size === 1) for (const tenant of tenants) options.isSlow(tenant);
  }

  /**
   * At least one of several heads is locked. Set aside the tenants with a locked head, so that the others do not wait
   * for one lock after another.
   */
  async function splitHeld(taken: readonly Waiting[], tenants: readonly number[]): Promise<void> {
    try {
      const ready = pipe?.usable ? pipe : await connect();
      // Runs outside a transaction: the next round may already have one open on this connection.
      const [free] = await ready.send([freeHeads(tenants)]);
      const isFree = ({ job }: Waiting) => free.has(tenantOf(job));
      for (const tenant of tenants) if (!free.has(tenant)) letRest(taken.filter(({ job }) => tenantOf(job) === tenant));
      waiting.putBack(taken.filter(isFree));
    } catch {
      waiting.again(taken, "by tenant");
    }
  }

  /** Another transaction holds rows that these jobs write; the tenant's other jobs go on. */
  function letWait(jobs: readonly Waiting[]): void {
    for (const one of jobs)
      if (closed || performance.now() - one.since > PATIENCE_MS) one.resolve("overloaded");
      else locked.push(one);
    if (locked.length > 0) unlocking ??= setTimeout(tryLocked, LOCKED_MS);
  }

  function tryLocked(): void {
    unlocking = undefined;
    for (const one of locked.splice(0)) waiting.join(one);
    if (!running) void run();
  }

  function letRest(taken: readonly Waiting[]): void {
    if (!closed && options.headIsHeld(taken)) return;
    for (const { resolve } of waiting.letRest(taken, closed)) resolve("overloaded");
  }

  function wakeLater(): void {
    clearTimeout(waking);
    waking = setTimeout(() => {
      if (!running) void run();
    }, waiting.nextIn() ?? REST_MS);
  }

  if (options.eager) connect().catch(() => {});

  return {
    join(one) {
      if (closed) return one.resolve("overloaded");
      waiting.join(one);
      if (running) startBehind();
      else void run();
    },
    canCommit,
    get waiting() {
      return waiting.length + locked.length;
    },
    async close() {
      closed = true;
      clearTimeout(unlocking);
      for (const { resolve } of locked.splice(0)) resolve("overloaded");
      if (running || waiting.length > 0)
        await new Promise<void>((resolve) => {
          idle = resolve;
        });
      clearTimeout(waking);
      await connecting?.catch(() => {});
      await pipe?.close();
    },
  };
}

const ABORTED = "25P02";
/** The expected head or record was wrong, or a name is already taken. */
const MISTAKEN: ReadonlySet<string> = new Set([UNEXPECTED, UNIQUE_VIOLATION]);

/**
 * The database was busy or the connection broke. If the database refuses connections, an immediate retry is useless.
 */
function isWorthRetrying(error: unknown): boolean {
  const code = failureCode(error);
  return (
    (code === "overloaded" || code === "unavailable") &&
    !["ECONNREFUSED", "ENOENT", "EACCES", "ETIMEDOUT"].includes(errorState(error) ?? "")
  );
}
