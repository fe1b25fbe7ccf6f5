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
import { commitsOf, type Job, tenantOf } from "./job.ts";
import type { Loaded, SizeRules } from "./load-round.ts";
import { emptyTenantAt, roundSizes, tenantAt } from "./tenant-at.ts";

/** The result of one job. */
export type RoundOutcome =
  /** May have fewer commits than the job: the rest waits for a later round. */
  | { readonly commits: readonly Judged[]; readonly claim?: undefined }
  | { readonly claim: ClaimOutcome; readonly commits?: undefined };

export interface ClaimOutcome {
  readonly decision: ClaimDecision;
  /** The model's name as declared. */
  readonly declaredName: string;
  /** The database's time of the decision, in milliseconds since 1970. */
  readonly now: number;
}

/** The entries that a round appended to one tenant's log, in order: (from, to]. */
export interface CommittedBatch {
  readonly tenant: number;
  readonly from: number;
  readonly to: number;
  readonly entries: readonly SavedEntry[];
  /** The schema that the commits were judged by. */
  readonly schema: LiveSchema;
}

export interface RoundResult {
  /** In the order of the jobs. */
  readonly outcomes: readonly RoundOutcome[];
  readonly batches: readonly CommittedBatch[];
  /** The tenants whose claims changed. */
  readonly claimTenants: readonly number[];
  /** What `save` has to write. */
  readonly round: Round;
  readonly claims: readonly Statement<void>[];
  /** The tenants' heads after the round. */
  readonly heads: readonly LockedHead[];
  /** Only for a round that was judged without a load: what it assumed. */
  readonly expected?: Expectation;
  /** The connection whose transaction holds the locks. */
  readonly pipe: Pipe;
}

/** Settings that every round uses. */
export interface RoundRules extends SizeRules {
  readonly schemas: SchemaCache;
}

/** Judges the jobs of each tenant in their order of arrival. */
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
 * Judges a round of creates by expected heads, without a read from the database. It assumes that none of the named
 * records exist, or existed since the author's `readAt`. The save checks these assumptions and fails as a whole if one
 * is wrong (see `save`). Undefined if a commit would not be confirmed: it would write nothing, so the save could not
 * notice a wrong assumption.
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
  // The save compares only the heads that it moves. A head without new entries would not be checked.
  const isMoved = result.round.heads.length === heads.length;
  return isWritten && isMoved ? { ...result, expected: { heads, unseen } } : undefined;
}

/** The history questions that a round with a load would ask. */
const questions = ({ tenant, state, jobs }: TenantJobs): HistoryQuestion[] =>
  [...lookupFor(state, commitsOf(jobs)).history.values()].map((question) => ({ tenant, ...question }));

/** The jobs of one tenant, with the state that they are judged against. */
interface TenantJobs {
  readonly tenant: number;
  readonly jobs: readonly Job[];
  readonly schema: LiveSchema;
  readonly state: TenantState;
}

function judgeTenants(pipe: Pipe, jobs: readonly Job[], found: readonly TenantJobs[]): RoundResult {
  const outcomes = new Map<Job, RoundOutcome>();
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
    outcomes: answers as readonly RoundOutcome[],
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

/** Whether every commit of the job has been judged. */
export const isComplete = ({ commits }: Job, outcome: RoundOutcome): boolean =>
  commits?.length === outcome.commits?.length;

const judge = (state: TenantState, { commits, judged, order }: Job): RoundOutcome =>
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
  readonly batch: CommittedBatch;
}

function savedEntries(tenant: number, now: string, judged: readonly Judged[]): SavedEntry[] {
  const written = judged.flatMap(({ commit, decision }) =>
    decision.kind === "confirmed" ? decision.entries.map((entry) => ({ commit, entry })) : [],
  );
  // Several entries of the round may concern one record. If its first entry is `created`, its row is inserted. Its last
  // entry has the row's final state. Entries before its erasure lose their values.
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
 * The groups whose position moved. If the round did not load a group, only its new positions are known; `saveRound`
 * keeps the stored values for the rest.
 */
const movedGroups = ({ state, batch: { tenant, from } }: JudgedTenant): SavedGroup[] =>
  [...state.groupHeads].flatMap(([name, head]) =>
    head.syncId > from
      ? [{ tenant, name, syncId: head.syncId, writer: head.writer, otherSyncId: head.otherSyncId }]
      : [],
  );

/** The second round trip, or the only one: writes the decisions and commits. */
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
