import { saveClaims } from "../../db/claims/claims.ts";
import type { LockedHead } from "../../db/commits/heads.ts";
import type { HistoryQuestion } from "../../db/commits/history.ts";
import { deleteRecords } from "../../db/commits/records.ts";
import { type Expectation, saveCreates } from "../../db/commits/save-creates.ts";
import { type Round, type SavedEntry, type SavedGroup, saveRound } from "../../db/commits/save-round.ts";
import type { Pipe } from "../../db/connection/pipe.ts";
import { commit as commitTransaction, type Statement } from "../../db/connection/statement.ts";
import { eraseRecords, holdOffCopies } from "../../db/log/erase.ts";
import { loadSchema } from "../../db/schema/model-schemas.ts";
import type { ClaimDecision } from "../../rules/claims/decide-claim.ts";
import { judgeClaim } from "../../rules/claims/judge-claim.ts";
import { recordKey } from "../../rules/commits/commit-request.ts";
import { type Judged, judgeInOrder, lookupFor } from "../../rules/commits/judge-commits.ts";
import { storedEntry } from "../../rules/commits/stored-entry.ts";
import type { NewEntry, TenantState } from "../../rules/commits/tenant-state.ts";
import type { LiveSchema, SchemaCache } from "../schema/schema-cache.ts";
import {
  commitsOf,
  emptyTenantAt,
  type Job,
  type Loaded,
  roundSizes,
  type SizeRules,
  tenantAt,
  tenantOf,
} from "./load-round.ts";

/** What came of a job. */
export type Outcome =
  /** Fewer than the job has: the others have to wait for a later round. */
  | { readonly commits: readonly Judged[]; readonly claim?: undefined }
  | { readonly claim: ClaimOutcome; readonly commits?: undefined };

export interface ClaimOutcome {
  readonly decision: ClaimDecision;
  /** As declared. */
  readonly declaredName: string;
  /** The database's clock when it was judged, in milliseconds since 1970. */
  readonly now: number;
}

/** What a round added to one tenant's log, in order: (from, to]. */
export interface Batch {
  readonly tenant: number;
  readonly from: number;
  readonly to: number;
  readonly entries: readonly SavedEntry[];
  /** By which they were judged. */
  readonly schema: LiveSchema;
}

export interface RoundResult {
  /** In the order of the jobs. */
  readonly outcomes: readonly Outcome[];
  readonly batches: readonly Batch[];
  /** The tenants whose claims changed. */
  readonly claimTenants: readonly number[];
  /** What has to be written for all this to be true. */
  readonly round: Round;
  readonly claims: readonly Statement<void>[];
  /** The tenants' heads after it. */
  readonly heads: readonly LockedHead[];
  /** Of a round that was judged before anything was looked up: what it took for granted. */
  readonly expected?: Expectation;
  /** The connection whose transaction holds the locks. */
  readonly pipe: Pipe;
}

/** What every round is judged by. */
export interface RoundRules extends SizeRules {
  readonly schemas: SchemaCache;
}

/** Judges the jobs of each tenant in the order they came. */
export async function judgeRound(
  pipe: Pipe,
  { schemas, ...rules }: RoundRules,
  jobs: readonly Job[],
  loaded: Loaded,
): Promise<RoundResult> {
  const sizes = roundSizes(rules, jobs);
  const tenants: TenantJobs[] = [];
  for (const head of loaded.heads) {
    const own = jobs.filter((job) => tenantOf(job) === head.tenant);
    const schema =
      schemas.get(head.tenant, head.schemaVersion) ??
      schemas.put(head.tenant, (await pipe.send([loadSchema(head.tenant, head.schemaVersion)]))[0]);
    tenants.push({
      tenant: head.tenant,
      jobs: own,
      schema,
      state: await tenantAt(pipe, head, schema, sizes, own, loaded),
    });
  }
  return judgeTenants(pipe, jobs, tenants);
}

/**
 * Judges a round of creates by heads that are expected, without asking the database for anything: as if nothing that
 * it names were there, or had been since it was read. What it saves says so too (see `save`), and fails as a whole where
 * that is wrong. Undefined when one of its commits would not be confirmed: what is not written cannot fail, so nobody
 * would notice.
 */
export function judgeExpected(
  pipe: Pipe,
  { schemas, ...rules }: RoundRules,
  jobs: readonly Job[],
  heads: readonly LockedHead[],
): RoundResult | undefined {
  const sizes = roundSizes(rules, jobs);
  const tenants: TenantJobs[] = [];
  for (const head of heads) {
    const own = jobs.filter((job) => tenantOf(job) === head.tenant);
    const schema = schemas.get(head.tenant, head.schemaVersion);
    if (!schema) return undefined;
    tenants.push({ tenant: head.tenant, jobs: own, schema, state: emptyTenantAt(head, schema, sizes, own) });
  }
  const unseen = tenants.flatMap(questions);
  const result = judgeTenants(pipe, jobs, tenants);
  const isWritten = result.outcomes.every(
    (outcome, i) =>
      isComplete(jobs[i] as Job, outcome) && outcome.commits?.every(({ decision }) => decision.kind === "confirmed"),
  );
  // The save compares the heads that it moves: one that nothing was written to would go unasked.
  const isMoved = result.round.heads.length === heads.length;
  return isWritten && isMoved ? { ...result, expected: { heads, unseen } } : undefined;
}

/** What would be asked of the log about what moved, if it were asked. */
const questions = ({ tenant, state, jobs }: TenantJobs): HistoryQuestion[] =>
  [...lookupFor(state, commitsOf(jobs)).history.values()].map((question) => ({ tenant, ...question }));

/** The jobs of one tenant, with the tenant as they find it. */
interface TenantJobs {
  readonly tenant: number;
  readonly jobs: readonly Job[];
  readonly schema: LiveSchema;
  readonly state: TenantState;
}

function judgeTenants(pipe: Pipe, jobs: readonly Job[], found: readonly TenantJobs[]): RoundResult {
  const outcomes = new Map<Job, Outcome>();
  const tenants = found.map(({ tenant, jobs: own, schema, state }) => {
    const from = state.head.syncId;
    for (const job of own) outcomes.set(job, judge(state, job));
    const judged = own.flatMap((job) => outcomes.get(job)?.commits?.slice(job.judged?.length ?? 0) ?? []);
    const entries = savedEntries(tenant, state.now, judged);
    return { state, batch: { tenant, from, to: state.head.syncId, entries, schema } };
  });
  const answers = jobs.map((job) => outcomes.get(job));
  if (answers.includes(undefined)) throw new Error("A job's tenant has no head.");
  const claimed = tenants.filter(({ state }) => state.changedClaims.size > 0);
  return {
    outcomes: answers as readonly Outcome[],
    batches: tenants.map(({ batch }) => batch).filter(({ entries }) => entries.length > 0),
    claimTenants: claimed.map(({ batch }) => batch.tenant),
    round: roundOf(tenants),
    claims: claimed.length > 0 ? [saveChanged(claimed)] : [],
    heads: tenants.map(({ state: { head, now, claimChange, claimCount }, batch: { tenant } }) => ({
      ...head,
      tenant,
      now,
      claimChange,
      claims: claimCount,
    })),
    pipe,
  };
}

/** Whether all that a job asks for is judged. */
export const isComplete = ({ commits }: Job, outcome: Outcome): boolean => commits?.length === outcome.commits?.length;

const judge = (state: TenantState, { commits, judged, order }: Job): Outcome =>
  order === undefined
    ? { commits: judgeInOrder(state, commits, judged) }
    : {
        claim: {
          decision: judgeClaim(state, order),
          declaredName: state.models.get(order.model)?.name ?? order.model,
          now: Date.parse(state.now),
        },
      };

const saveChanged = (tenants: readonly JudgedTenant[]): Statement<void> =>
  saveClaims(
    tenants.flatMap(({ state, batch: { tenant } }) =>
      [...state.changedClaims.values()].map((changed) => ({ ...changed, tenant })),
    ),
    tenants.map(({ state, batch: { tenant } }) => ({
      tenant,
      claimChange: state.claimChange,
      claims: state.claimCount,
    })),
  );

/** One tenant after its commits were judged. */
interface JudgedTenant {
  readonly state: TenantState;
  readonly batch: Batch;
}

function savedEntries(tenant: number, now: string, judged: readonly Judged[]): SavedEntry[] {
  const written = judged.flatMap(({ commit, decision }) =>
    decision.kind === "confirmed" ? decision.entries.map((entry) => ({ commit, entry })) : [],
  );
  // Who was made first in this round was not there before it; what is said last of a record is what it is now, and what
  // was said before its erasure has no values.
  const made = new Set<string>();
  const last = new Map<string, NewEntry>();
  const erasedAt = new Map<string, number>();
  for (const { entry } of written) {
    const key = recordKey(entry.model, entry.id);
    if (entry.verb === "created" && !last.has(key)) made.add(key);
    last.set(key, entry);
    if (entry.verb === "erased") erasedAt.set(key, entry.syncId);
  }
  return written.map(({ commit, entry }) => {
    const key = recordKey(entry.model, entry.id);
    const isErased = entry.syncId < (erasedAt.get(key) ?? 0);
    return {
      tenant,
      entry: storedEntry(commit, isErased ? { ...entry, text: null } : entry, now),
      createdSyncId: entry.createdSyncId,
      after: entry.after,
      row: last.get(key) !== entry ? null : entry.after === null ? "deleted" : made.has(key) ? "inserted" : "updated",
    };
  });
}

function roundOf(tenants: readonly JudgedTenant[]): Round {
  const moved = tenants.filter(({ batch }) => batch.entries.length > 0);
  return {
    entries: moved.flatMap(({ batch }) => batch.entries),
    receipts: tenants.flatMap(({ state, batch: { tenant } }) =>
      state.newReceipts.map(({ participant, name, fingerprint, body, held }) => ({
        tenant,
        participant,
        name,
        fingerprint,
        body,
        held,
      })),
    ),
    heads: moved.map(({ state: { head, now }, batch: { tenant } }) => ({
      tenant,
      syncId: head.syncId,
      writer: head.writer,
      otherSyncId: head.otherSyncId,
      now,
    })),
    groups: moved.flatMap(movedGroups),
    now: tenants[0]?.state.now ?? "",
  };
}

/**
 * The groups that have news. Of one that the round did not ask about only its own positions are known, which is what
 * `saveRound` takes: it keeps what it finds for the rest.
 */
const movedGroups = ({ state, batch: { tenant, from } }: JudgedTenant): SavedGroup[] =>
  [...state.groupHeads].flatMap(([name, head]) =>
    head.syncId > from
      ? [{ tenant, name, syncId: head.syncId, writer: head.writer, otherSyncId: head.otherSyncId }]
      : [],
  );

/** Second trip, or the only one: writes what was decided, and commits. */
export function save({ pipe, round, claims, expected }: RoundResult): Promise<unknown> {
  if (expected) return pipe.send([saveCreates(round, expected)]);
  const erased = round.entries
    .filter(({ entry }) => entry.verb === "erased")
    .map(({ tenant, entry: { model, id, syncId } }) => ({ tenant, model, id, syncId }));
  const gone = round.entries
    .filter(({ row }) => row === "deleted")
    .map(({ tenant, entry: { model, id } }) => ({ tenant, model, id }));
  return pipe.send([
    ...(round.receipts.length > 0 ? [saveRound(round)] : []),
    ...(erased.length > 0 ? [holdOffCopies(erased.map(({ tenant }) => tenant)), eraseRecords(erased)] : []),
    ...(gone.length > 0 ? [deleteRecords(gone)] : []),
    ...claims,
    commitTransaction,
  ]);
}
