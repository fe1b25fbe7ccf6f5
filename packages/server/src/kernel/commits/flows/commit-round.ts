import type { Pipe } from "../../connection/pipe.ts";
import { commit as commitTransaction, type Statement } from "../../connection/statement.ts";
import { eraseRecords, holdOffCopies } from "../../log/db/erase.ts";
import { loadSchema } from "../../schema/db/model-schemas.ts";
import type { LiveSchema } from "../../schema/flows/schema-cache.ts";
import { valueTexts } from "../../schema/rules/declared-values.ts";
import type { LockedHead } from "../db/heads.ts";
import type { HistoryQuestion } from "../db/history.ts";
import { replaceValues } from "../db/record-values.ts";
import { deleteRecords } from "../db/records.ts";
import { saveCreates } from "../db/save-creates.ts";
import { type Round, type SavedEntry, type SavedGroup, saveRound } from "../db/save-round.ts";
import { TenantElsewhere } from "../db/tenant-elsewhere.ts";
import { recordKey } from "../rules/commit-request.ts";
import { type Judged, lookupFor } from "../rules/judge-commits.ts";
import { judgedAgain, judgementTime } from "../rules/judgement-time.ts";
import { isMissing } from "../rules/record-values.ts";
import { storedEntry } from "../rules/stored-entry.ts";
import { moduleThat, type NewEntry, type TenantState } from "../rules/tenant-state.ts";
import type { InRounds, RoundRules, Rounds } from "./in-rounds.ts";
import { commitsOf, type Job, tenantOf } from "./job.ts";
import { judgeJob } from "./judge-job.ts";
import { type Loaded, load } from "./load-round.ts";
import { loadValues } from "./load-values.ts";
import { emptyModulesAt, headAfter, openLoads, saveModules } from "./round-modules.ts";
import { isComplete, judgedNow, type RoundOutcome } from "./round-outcome.ts";
import type { CommittedBatch, RoundResult } from "./round-result.ts";
import { emptyTenantAt, roundSizes, tenantAt } from "./tenant-at.ts";

/** Rounds of records that Holdfast keeps itself. */
export function hostedRounds(rules: RoundRules): Rounds<Loaded> {
  const loads = openLoads(rules.modules);
  return {
    load: (pipe, jobs) => load(pipe, jobs, loads, rules),
    judge: (pipe, jobs, found) => judgeRound(pipe, rules, jobs, found),
  };
}

/** Judges the jobs of each tenant in their order of arrival. */
export async function judgeRound(
  pipe: Pipe,
  { schemas, modules, ...rules }: RoundRules,
  jobs: readonly Job[],
  loaded: Loaded,
): Promise<RoundResult> {
  let time = judgementTime(performance.now());
  for (let found = loaded; ; ) {
    const sizes = roundSizes(rules, jobs);
    const tenants: TenantJobs[] = [];
    for (const head of found.heads) {
      const own = jobs.filter((job) => tenantOf(job) === head.tenant);
      const schema =
        schemas.get(head.tenant, head.schemaVersion) ??
        schemas.put(head.tenant, (await pipe.send([loadSchema(head.tenant, head.schemaVersion)]))[0]);
      const state = await tenantAt(pipe, head, schema, sizes, own, found);
      tenants.push({ tenant: head.tenant, jobs: own, schema, state });
    }
    const result = judgeTenants(pipe, modules, jobs, tenants);
    const missing = tenants.filter(({ state }) => isMissing(state.values));
    if (missing.length === 0) return result;
    const incomplete = missing.flatMap(({ state }) => [...state.values.incomplete]);
    time = judgedAgain(time, incomplete, performance.now());
    found = await loadValues(pipe, found, missing, rules, time.ended);
  }
}

/**
 * Judges a round of creates by expected heads, without a read from the database. It assumes that none of the named
 * records exist, or existed since the author's `readAt`. The save checks these assumptions and fails as a whole if one
 * is wrong (see `save`). Undefined if a commit would not be confirmed: it would write nothing, so the save could not
 * notice a wrong assumption.
 */
export function judgeExpected(
  pipe: Pipe,
  { schemas, modules, ...rules }: RoundRules,
  jobs: readonly Job[],
  heads: readonly LockedHead[],
): RoundResult | undefined {
  const sizes = roundSizes(rules, jobs);
  const tenants: TenantJobs[] = [];
  for (const head of heads) {
    const own = jobs.filter((job) => tenantOf(job) === head.tenant);
    const schema = schemas.get(head.tenant, head.schemaVersion);
    const ofModules = schema && emptyModulesAt(modules, { head, schema, jobs: own });
    if (!ofModules) return undefined;
    tenants.push({ tenant: head.tenant, jobs: own, schema, state: emptyTenantAt(head, schema, sizes, own, ofModules) });
  }
  const unseen = tenants.flatMap(questions);
  const result = judgeTenants(pipe, modules, jobs, tenants);
  const isWritten = result.outcomes.every(
    (outcome, i) =>
      !("runBy" in outcome) &&
      isComplete(jobs[i] as Job, outcome) &&
      outcome.commits?.every(({ decision }) => decision.kind === "confirmed"),
  );
  // The save compares only the heads that it moves. A head without new entries would not be checked.
  const isMoved = result.round.heads.length === heads.length;
  // Whether a value is taken, or a record that is referenced exists, has to be read.
  const hasValues = tenants.some(({ state: { values } }) => isMissing(values) || values.changed.size > 0);
  return isWritten && isMoved && !hasValues ? { ...result, expected: { heads, unseen } } : undefined;
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

function judgeTenants(
  pipe: Pipe,
  modules: readonly InRounds[],
  jobs: readonly Job[],
  found: readonly TenantJobs[],
): RoundResult {
  const outcomes = new Map<Job, RoundOutcome>();
  const tenants = found.map(({ tenant, jobs: own, schema, state }) => {
    const from = state.head.syncId;
    const runBy = own.some(({ captured }) => captured) ? undefined : moduleThat(state, ({ runsRounds }) => runsRounds);
    for (const job of own) outcomes.set(job, runBy === undefined ? judgeJob(state, job) : { runBy });
    const judged = own.flatMap((job) => judgedNow(job, outcomes.get(job)));
    const entries = savedEntries(tenant, state, judged);
    return { state, batch: { tenant, from, to: state.head.syncId, entries, schema } };
  });
  const answers = jobs.map((job) => outcomes.get(job));
  const lost = jobs[answers.indexOf(undefined)];
  if (lost) throw new TenantElsewhere(tenantOf(lost));
  const after = tenants.map(({ state, batch: { tenant } }) => ({ state, tenant }));
  const { statements: ofModules, changed } = saveModules(modules, after, jobs, answers as readonly RoundOutcome[]);
  return {
    outcomes: answers as readonly RoundOutcome[],
    batches: tenants.map(({ batch }) => batch).filter(({ entries }) => entries.length > 0),
    changed,
    round: roundOf(tenants),
    values: changedValues(tenants),
    ofModules,
    heads: after.map((one) => headAfter(modules, one)),
    pipe,
  };
}

/** Replaces the kept values of the records whose values have changed. */
function changedValues(tenants: readonly JudgedTenant[]): Statement<void>[] {
  const records = tenants.flatMap(({ state: { records: all, values }, batch: { tenant } }) =>
    [...values.changed].map(([key, { model, id }]) => {
      const data = all.get(key)?.data;
      const declared = data ? (values.declared.byModel.get(model) ?? []) : [];
      const own = declared.flatMap((one) => valueTexts(one, data ?? {}).map((text) => ({ name: one.name, text })));
      return { tenant, model, id, values: own };
    }),
  );
  return records.length > 0 ? replaceValues(records) : [];
}

/** One tenant after its commits were judged. */
interface JudgedTenant {
  readonly state: TenantState;
  readonly batch: CommittedBatch;
}

function savedEntries(tenant: number, { now, models }: TenantState, judged: readonly Judged[]): SavedEntry[] {
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
      dataBefore: entry.dataBefore,
      after: entry.after,
      keepsValues: models.get(entry.model)?.model.table === undefined,
      row: last.get(key) !== entry ? null : entry.after === null ? "deleted" : made.has(key) ? "inserted" : "updated",
    };
  });
}

function roundOf(tenants: readonly JudgedTenant[]): Round {
  const moved = tenants.filter(({ batch }) => batch.entries.length > 0);
  return {
    entries: moved.flatMap(({ batch }) => batch.entries),
    receipts: tenants.flatMap(({ state, batch: { tenant } }) =>
      state.newReceipts.map(({ participant, name, fingerprint, kept, conflicted }) => ({
        tenant,
        participant,
        name,
        fingerprint,
        kept,
        conflicted,
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
export function save(result: RoundResult): Promise<unknown> {
  const { pipe, round, expected } = result;
  return pipe.send(expected ? [saveCreates(round, expected)] : [...savings(result), commitTransaction]);
}

/** The statements that write a round's decisions in the open transaction. */
export function savings({ round, values, ofModules }: RoundResult): Statement<unknown>[] {
  const erased = round.entries
    .filter(({ entry }) => entry.verb === "erased")
    .map(({ tenant, entry: { model, id, syncId } }) => ({ tenant, model, id, syncId }));
  const gone = round.entries
    .filter(({ row }) => row === "deleted")
    .map(({ tenant, entry: { model, id } }) => ({ tenant, model, id }));
  return [
    ...(round.receipts.length > 0 || round.entries.length > 0 ? [saveRound(round)] : []),
    ...(erased.length > 0 ? [holdOffCopies(erased.map(({ tenant }) => tenant)), eraseRecords(erased)] : []),
    ...(gone.length > 0 ? [deleteRecords(gone)] : []),
    ...values,
    ...ofModules,
  ];
}
