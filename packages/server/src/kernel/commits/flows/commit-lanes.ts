import { type ErrorCode, serverLimits } from "@holdfast/sdk/protocol";
import type { Share } from "../../limits/answer-bytes.ts";
import type { SchemaCache } from "../../schema/flows/schema-cache.ts";
import type { CacheUse } from "../../sized-cache.ts";
import type { CommitRequest } from "../rules/commit-request.ts";
import type { Judged } from "../rules/judge-commits.ts";
import { createLane, type Lane, type LaneOptions } from "./commit-lane.ts";
import type { Waiting } from "./commit-queue.ts";
import { hostedRounds } from "./commit-round.ts";
import type { OwnRounds, RoundRules } from "./in-rounds.ts";
import { type Ask, type CommitStep, type Job, tenantOf } from "./job.ts";
import { createKnownHeads } from "./known-heads.ts";
import { createLaneChoice } from "./lane-choice.ts";
import { type SharedLanes, shareLanes } from "./own-lanes.ts";
import type { JobOutcome } from "./round-outcome.ts";

/**
 * Runs each tenant's writes in one of three lanes, so that one tenant's writes do not delay another's. Each lane has
 * its own connection and its own rounds:
 *
 *   quick   the default
 *   heavy   tenants that send a lot at once, or whose rounds are slow in Postgres
 *   held    tenants whose head is locked by another process
 *
 * Modules that run the rounds of some tenants themselves have others beside these: see own-lanes.ts.
 *
 * Without the lane `held`, beside 4 heads that another process held, another tenant's commits took 86 to 157 ms (p99)
 * instead of 6 to 8: `npm run bench -- --only fairness`, 27 November 2026.
 *
 * All jobs of a tenant take the same lane. While a tenant changes lanes, both may have its jobs; the lock of its head
 * serializes them.
 */
export interface CommitLanes {
  /** The commits of one request, all of one tenant. Never rejects: an unavailable database is a `failed` result. */
  submit(commits: readonly CommitRequest[], bytes?: number, answer?: Share): Promise<SubmitResult>;
  /** Like `submit`, of one commit that a module judges itself in this step. */
  step<Answer>(
    commit: CommitRequest,
    step: CommitStep<Answer>,
    bytes?: number,
    answer?: Share,
  ): Promise<StepOutcome<Answer>>;
  /** Never rejects. */
  decide<Answer>(ask: Ask<Answer>): Promise<AskResult<Answer>>;
  /** Whether the connection that commits works. */
  canCommit(): Promise<boolean>;
  /** Others than the lanes have written to the tenant up to this position: another process, or a run beside the lanes. */
  moved(tenant: number, position: number): void;
  /** The logs were replaced: discard the known heads. */
  forget(): void;
  /** Of the known heads. */
  readonly headsUse: CacheUse;
  /** Requests that wait for a round. */
  readonly waiting: number;
  close(): Promise<void>;
}

export type JobResult =
  | { readonly kind: "judged"; readonly judged: readonly Judged[] }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly message?: string };

/** "taken": the module of this name takes the tenant's commits. */
export type SubmitResult = JobResult | { readonly kind: "taken"; readonly by: string };

/** "answered": the module goes on with the commit. */
export type StepOutcome<Answer> = JobResult | { readonly kind: "answered"; readonly answer: Answer };

export type AskResult<Answer> =
  | { readonly kind: "judged"; readonly answer: Answer }
  | { readonly kind: "failed"; readonly code: ErrorCode };

export interface LanesOptions extends Pick<LaneOptions<unknown>, "url" | "announce" | "report"> {
  readonly schemas: SchemaCache;
  readonly modules: RoundRules["modules"];
  readonly verify?: LaneOptions<unknown>["verify"];
  /** Largest JSON size of a record after a write. */
  readonly recordBytes?: number;
  /** Largest JSON size of all records that one commit names, together. */
  readonly commitBytes?: number;
  announceChange?: LaneOptions<unknown>["announceChange"];
  publishDrained?: LaneOptions<unknown>["publishDrained"];
  took?(ms: number): void;
  /** Most commits in one transaction. */
  readonly maxCommits?: number;
  /** Memory for known heads. */
  readonly headBytes?: number;
  /** How long a round of the quick lane waits for a head that another process holds. */
  readonly lockMs?: number;
  /** Most requests that may wait. Further requests are refused at once. */
  readonly maxWaiting?: number;
}

const jobResult = (outcome: JobOutcome | ErrorCode): JobResult =>
  typeof outcome === "string" ? { kind: "failed", code: outcome } : { kind: "judged", judged: outcome.commits ?? [] };

/** Request bodies in one round: about what Postgres writes in ten milliseconds. */
const MAX_BYTES = 2 ** 20;
/** JSON of the records that the commits of one round name or create. */
const ROUND_BYTES = 2 ** 21;
/** The most operations that one bulk request can have. */
const MAX_NAMES = 1_000;
/** Long enough for the other process's round to end, usually. */
const LOCK_MS = 40;
/** In the lanes off the quick path, where only tenants set aside wait. */
const ASIDE_LOCK_MS = 200;

export function createCommitLanes({
  url,
  verify,
  schemas,
  modules,
  recordBytes = serverLimits.recordBytes,
  commitBytes = serverLimits.commitBytes,
  announce,
  announceChange = () => {},
  publishDrained = () => {},
  took = () => {},
  report,
  maxCommits = 128,
  headBytes,
  lockMs = LOCK_MS,
  maxWaiting = 10_000,
}: LanesOptions): CommitLanes {
  const known = createKnownHeads(() => Date.now(), headBytes);
  const choice = createLaneChoice(() => performance.now());
  const rules: RoundRules = { schemas, modules, recordBytes, commitBytes, roundBytes: ROUND_BYTES };
  const shared = { url, rules, verify, known, announce, publishDrained, announceChange, took, report };
  const bounds = { maxCommits, maxBytes: MAX_BYTES, maxNames: MAX_NAMES };
  const quick = open("quick");
  const lanes = { quick, heavy: open("heavy"), held: open("held") };
  const own = new Map(modules.flatMap(({ name, ownRounds }) => (ownRounds ? [[name, ownLanes(name, ownRounds)]] : [])));
  const each = [...Object.values(lanes), ...own.values()];
  let closed = false;

  function open(name: "quick" | "heavy" | "held"): Lane {
    return createLane({
      ...shared,
      rounds: hostedRounds(rules),
      headIsHeld: (jobs) => name !== "held" && !closed && stepAside(jobs),
      headsWereFree: name === "held" ? choice.areFree : () => {},
      isSlow: (tenant) => choice.isSlow(tenant),
      isRunBy(module, one) {
        choice.isRunBy(tenantOf(one.job), module);
        laneOf(one.job).join(one);
      },
      areLarge: (jobs) => {
        for (const { job } of jobs) choice.isLarge(tenantOf(job));
        if (name !== "quick" || closed) return false;
        for (const one of jobs) lanes.heavy.join(one);
        return true;
      },
      bounds,
      lockMs: name === "quick" ? lockMs : ASIDE_LOCK_MS,
      // Connect at once: if Postgres has too few connections, reads should lack one before commits do.
      eager: name === "quick",
    });
  }

  function ownLanes(name: string, { lanes: count, maxCommits: most, open: openRounds }: OwnRounds): SharedLanes {
    const runs = (tenant: number, goesOn: boolean) => choice.isRunBy(tenant, goesOn ? name : undefined);
    const openLane = () =>
      createLane({
        ...shared,
        rounds: openRounds({ rules, publishDrained, runs }),
        headIsHeld: () => false,
        headsWereFree: () => {},
        isSlow: () => {},
        isRunBy: () => {},
        areLarge: () => false,
        bounds: { ...bounds, maxCommits: Math.min(maxCommits, most), byTenant: true },
        lockMs: ASIDE_LOCK_MS,
        eager: false,
      });
    return shareLanes(Array.from({ length: count }, openLane));
  }

  function stepAside(jobs: readonly Waiting[]): boolean {
    for (const one of jobs) {
      choice.isHeld(tenantOf(one.job));
      const { apart: _, ...rest } = one;
      lanes.held.join(rest);
    }
    return true;
  }

  function laneOf(job: Job): SharedLanes {
    const lane = choice.laneOf(job);
    if (typeof lane === "string") return lanes[lane];
    const found = own.get(lane.of);
    if (!found) throw new Error(`The module "${lane.of}" chose itself to run a round, but has no rounds.`);
    return found;
  }

  const waiting = () => each.reduce((sum, lane) => sum + lane.waiting, 0);

  const entry = (job: Job): Promise<JobOutcome | ErrorCode> =>
    new Promise((resolve) => {
      if (closed || waiting() >= maxWaiting) return resolve("overloaded");
      laneOf(job).join({ job, resolve, since: performance.now(), attempts: 1 });
    });

  return {
    async submit(commits, bytes = 0, answer) {
      const outcome = await entry({ commits, bytes, answer });
      return typeof outcome === "object" && "takenBy" in outcome
        ? { kind: "taken", by: outcome.takenBy }
        : jobResult(outcome);
    },
    async step<Answer>(commit: CommitRequest, step: CommitStep<Answer>, bytes = 0, answer?: Share) {
      const outcome = await entry({ commits: [commit], bytes, answer, step });
      return typeof outcome === "object" && "answer" in outcome
        ? { kind: "answered", answer: outcome.answer as Answer }
        : jobResult(outcome);
    },
    async decide<Answer>(ask: Ask<Answer>): Promise<AskResult<Answer>> {
      const outcome = await entry({ ask });
      if (typeof outcome === "string") return { kind: "failed", code: outcome };
      return { kind: "judged", answer: outcome.answer as Answer };
    },
    canCommit: quick.canCommit,
    moved: known.moved,
    forget: known.forget,
    headsUse: known.use,
    get waiting() {
      return waiting();
    },
    async close() {
      closed = true;
      await Promise.all(each.map((lane) => lane.close()));
    },
  };
}
