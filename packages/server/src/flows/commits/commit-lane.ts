import { freeHeads } from "../../db/commits/heads.ts";
import { UNEXPECTED } from "../../db/commits/save-creates.ts";
import { errorState, failureCode } from "../../db/connection/database-error.ts";
import { openPipe, type Pipe, type PipeOptions } from "../../db/connection/pipe.ts";
import { probe, rollback } from "../../db/connection/statement.ts";
import type { Judged } from "../../rules/commits/judge-commits.ts";
import { type CommitQueueBounds, createCommitQueue, mayGoBehind, REST_MS, type Waiting } from "./commit-queue.ts";
import {
  type Batch,
  isComplete,
  judgeExpected,
  judgeRound,
  type Outcome,
  type RoundResult,
  type RoundRules,
  save,
} from "./commit-round.ts";
import type { KnownHeads } from "./known-heads.ts";
import { type Job, type Loaded, load, tenantOf } from "./load-round.ts";

/**
 *  request ─► idle? take all that wait ─► load ─► judge ─► save, commit ─► the next round starts ─► answer ─► announce
 *             busy? wait: the next      │             ↑       └─ behind it the next round, if enough wait by then
 *             round takes you           └─ creates? ──┘ by the head that is expected: the save says when that was wrong
 *
 * Every write ends here, and every change of a claim, so that each is judged by what the others left. The log of a tenant is one line under one head row, so its commits happen one after the other
 * whatever we do: the lane puts all that wait into one transaction, since the cost is per transaction, not per commit. No
 * timer: a lonely write starts at once. Which lane a job takes is decided in commit-lanes.ts; any lane may take any job.
 */
export interface Lane {
  join(one: Waiting): void;
  /** Whether the connection that commits works. */
  canCommit(): Promise<boolean>;
  /** Requests that wait for a round. */
  readonly waiting: number;
  close(): Promise<void>;
}

export interface LaneOptions {
  readonly url: string;
  readonly rules: RoundRules;
  readonly known: KnownHeads;
  /** Tenants without a living claim, when they were last looked at. */
  readonly unclaimed: Set<number>;
  /** Called after COMMIT, in log order for each tenant. */
  announce(batch: Batch): void;
  /** Called after COMMIT with each tenant whose claims changed. */
  announceClaims(tenant: number): void;
  /** Called after COMMIT: how long ago the round's first request came, in milliseconds. */
  took(ms: number): void;
  /** A fault of ours, or of the database, that a round ran into. */
  report(error: unknown): void;
  /** Another process holds the head of these jobs' tenant. True: another lane has them now. */
  headIsHeld(jobs: readonly Waiting[]): boolean;
  headsWereFree(tenants: readonly number[]): void;
  /** Postgres took long for a round of one tenant alone. */
  isSlow(tenant: number): void;
  /** What these jobs name did not fit into the round. True: another lane has them now. */
  areLarge(jobs: readonly Waiting[]): boolean;
  readonly bounds: CommitQueueBounds;
  /** How long a round waits for a head that another process holds. */
  readonly lockMs: number;
  /** Asked of each connection before anything is committed on it. */
  readonly verify?: PipeOptions["verify"];
  /** Opens its connection at once, and not with its first job. */
  readonly eager: boolean;
}

/** A round on its way: its load, or, where nothing has to be looked up, its save already. */
type Started = { readonly taken: readonly Waiting[] } & (
  | { readonly loaded: Promise<{ pipe: Pipe; found: Loaded }> }
  | { readonly expected: RoundResult; readonly saved: Promise<unknown> }
);

const ATTEMPTS = 3;
/** A round of one tenant that takes Postgres so long is its tenant's fault, as far as others can tell. */
const SLOW_MS = 150;

export function createLane(options: LaneOptions): Lane {
  const { url, rules, known, unclaimed, announce, announceClaims, took, report, bounds } = options;
  const waiting = createCommitQueue(bounds);
  let pipe: Pipe | undefined;
  let connecting: Promise<Pipe> | undefined;
  let running = false;
  let isSaving = false;
  /** The round that was sent behind the COMMIT of the one that is being saved. */
  let behind: Started | undefined;
  /** How many requests were here when a round was answered last: its own, and those that waited or were on their way. */
  let present = 0;
  let waking: NodeJS.Timeout | undefined;
  let idle: (() => void) | undefined;
  let closed = false;

  async function run(): Promise<void> {
    running = true;
    let round = start();
    while (round) {
      const { taken } = round;
      // The round of whichever tenant opens the connection is not slow for that.
      if (connecting) await connecting.catch(() => {});
      const begun = performance.now();
      const result = await settle(round);
      if (performance.now() - begun > SLOW_MS) blame(taken);
      if (result) goOnLater(taken, result.outcomes);
      // Who came meanwhile is on the way before anybody is answered.
      round = behind ?? start();
      behind = undefined;
      if (!result) continue;
      options.headsWereFree(result.heads.map(({ tenant }) => tenant));
      present = taken.length + (round?.taken.length ?? 0) + waiting.length;
      took(performance.now() - (taken[0] as Waiting).since);
      tell(taken, result);
    }
    // In the same tick in which nothing was found waiting: who comes now starts a new run.
    running = false;
    if (waiting.length === 0) idle?.();
    else wakeLater();
  }

  /** Takes what waits and sends its load, or its save; on a warm connection the statements leave in this very tick. */
  function start(): Started | undefined {
    const taken = waiting.take();
    if (taken.length === 0) return undefined;
    const jobs = taken.map(({ job }) => job);
    const expected = expect(jobs);
    if (expected) return { taken, ...expected };
    const trip = async (ready: Pipe) => ({ pipe: ready, found: await load(ready, jobs, unclaimed, rules) });
    const loaded = pipe?.usable ? trip(pipe) : connect().then(trip);
    // Like a save below: it is awaited when its turn comes; until then a failure is nobody's.
    loaded.catch(() => {});
    return { taken, loaded };
  }

  /** Judges a round by heads that are known, and sends its save at once; undefined when something has to be looked up. */
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
      // A fault of ours comes again with what is loaded, and is reported there.
      return undefined;
    }
  }

  /** Starts a round while another is being saved, so that the database need not wait for us between the two. */
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

  /** Asked of the very connection that commits: others may have theirs, and it none. */
  async function canCommit(): Promise<boolean> {
    try {
      const ready = pipe?.usable ? pipe : await connect();
      await ready.send([probe]);
      return true;
    } catch (error) {
      // A round on this connection failed and is being rolled back: the database answers.
      return errorState(error) === ABORTED;
    }
  }

  /** Undefined when the round failed: then its jobs wait again, or were told. */
  async function settle(round: Started): Promise<RoundResult | undefined> {
    try {
      const { result, saved } = "saved" in round ? { result: round.expected, saved: round.saved } : await judged(round);
      isSaving = true;
      startBehind();
      await saved;
      return result;
    } catch (error) {
      // Whatever is still open is taken back. A save ends with COMMIT, which ends its transaction in any case, and what
      // is open behind that belongs to the next round.
      if (!isSaving && pipe?.usable) await pipe.send([rollback]).catch(() => {});
      known.distrust(round.taken.map(({ job }) => tenantOf(job)));
      await fail(round, error);
      return undefined;
    } finally {
      isSaving = false;
    }
  }

  async function judged({ taken, loaded }: Extract<Started, { loaded: unknown }>) {
    const { pipe: ready, found } = await loaded;
    const jobs = taken.map(({ job }) => job);
    const result = await judgeRound(ready, rules, jobs, found);
    known.learn(result.heads, "locked");
    return { result, saved: save(result) };
  }

  function tell(taken: readonly Waiting[], { outcomes, batches, claimTenants }: RoundResult): void {
    for (const [i, { job, resolve }] of taken.entries()) {
      const outcome = outcomes[i];
      if (!outcome || isComplete(job, outcome)) resolve(outcome ?? "internal_error");
    }
    // Behind the answers, which are written when this tick is over: a writer that listens too goes on with its answer,
    // and hears its news meanwhile.
    process.nextTick(() => {
      for (const batch of batches) harmless(() => announce(batch));
      for (const tenant of claimTenants) harmless(() => announceClaims(tenant));
    });
  }

  /** The commits that did not fit into the round wait again, in turn with the other tenants. */
  function goOnLater(taken: readonly Waiting[], outcomes: readonly Outcome[]): void {
    const unfinished = taken.flatMap((one, i) => {
      const outcome = outcomes[i];
      if (!outcome?.commits || isComplete(one.job, outcome)) return [];
      return { ...one, job: { ...one.job, judged: outcome.commits.map(withoutEntries) } as Job };
    });
    if (unfinished.length === 0) return;
    // The first commit of a round is always judged: whose commits were not yet are first in the next one.
    const isFresh = (one: Waiting) => one.job.judged?.length === 0;
    const inOrder = [...unfinished.filter(isFresh), ...unfinished.filter((one) => !isFresh(one))];
    if (!closed && options.areLarge(inOrder)) return;
    for (const one of inOrder) waiting.join(one);
  }

  /** Committed and answered; who listens finds it in the database. The lane goes on. */
  function harmless(tellThem: () => void): void {
    try {
      tellThem();
    } catch (error) {
      report(error);
    }
  }

  /**
   * A round failed as a whole. Trying again is safe even when it may have been committed: every commit is remembered
   * under its names. One commit that breaks a round must fail alone.
   */
  async function fail(round: Started, error: unknown): Promise<void> {
    const { taken } = round;
    const tenants = new Set(taken.map(({ job }) => tenantOf(job)));
    // Its tenants are distrusted by now: the next time is with what is loaded.
    if ("expected" in round && MISTAKEN.has(errorState(error) ?? "")) return waiting.putBack(taken);
    if (errorState(error) === LOCK_NOT_AVAILABLE)
      return tenants.size > 1 ? await partFromHeld(taken, [...tenants]) : letRest(taken);
    const code = failureCode(error);
    if (taken.length > 1 && code === undefined) return waiting.again(taken, "alone");
    const mayRetry = isWorthRetrying(error) && !closed && taken.every(({ attempts }) => attempts < ATTEMPTS);
    if (mayRetry) return waiting.again(taken);
    report(error);
    for (const { resolve } of taken) resolve(code ?? "internal_error");
  }

  /**
   * Whose round was slow: known only of a round of one tenant. To give the tenants of a slow round rounds of their own would
   * show it too, and would make a machine that is slow for everyone slower still.
   */
  function blame(taken: readonly Waiting[]): void {
    const tenants = new Set(taken.map(({ job }) => tenantOf(job)));
    if (tenants.size === 1) for (const tenant of tenants) options.isSlow(tenant);
  }

  /** One of several heads is held: those that are go aside, and nobody waits for them one after the other. */
  async function partFromHeld(taken: readonly Waiting[], tenants: readonly number[]): Promise<void> {
    try {
      const ready = pipe?.usable ? pipe : await connect();
      // No transaction of its own: the next round's may be open on this connection already.
      const [free] = await ready.send([freeHeads(tenants)]);
      const isFree = ({ job }: Waiting) => free.has(tenantOf(job));
      for (const tenant of tenants) if (!free.has(tenant)) letRest(taken.filter(({ job }) => tenantOf(job) === tenant));
      waiting.putBack(taken.filter(isFree));
    } catch {
      waiting.again(taken, "by tenant");
    }
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
      return waiting.length;
    },
    async close() {
      closed = true;
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

/** What was written is of no use any more, and may be large. */
const withoutEntries = (judged: Judged): Judged =>
  judged.decision.kind === "confirmed" ? { ...judged, decision: { ...judged.decision, entries: [] } } : judged;

const LOCK_NOT_AVAILABLE = "55P03";
const ABORTED = "25P02";
const UNIQUE_VIOLATION = "23505";
/** Something is not as it was expected, or a name is taken after all. */
const MISTAKEN: ReadonlySet<string> = new Set([UNEXPECTED, UNIQUE_VIOLATION]);

/** The database is there but was busy, or the connection broke; one that cannot be had now is not asked for at once. */
function isWorthRetrying(error: unknown): boolean {
  const code = failureCode(error);
  return (
    (code === "overloaded" || code === "unavailable") &&
    !["ECONNREFUSED", "ENOENT", "EACCES", "ETIMEDOUT"].includes(errorState(error) ?? "")
  );
}
