import type { InRounds, TenantInRound } from "../../../kernel/commits/flows/in-rounds.ts";
import { type CommitStep, commitsOf, type Job, tenantOf } from "../../../kernel/commits/flows/job.ts";
import type { RoundOutcome } from "../../../kernel/commits/flows/round-outcome.ts";
import { ownerOf, type RoundModule } from "../../../kernel/commits/rules/tenant-state.ts";
import type { Pipe } from "../../../kernel/connection/pipe.ts";
import type { Statement } from "../../../kernel/connection/statement.ts";
import { oncePerSchema } from "../../../kernel/schema/flows/once-per-schema.ts";
import { deleteIntents, insertIntents, loadOpenIntents, loadReservations, type ReservedKey } from "../db/intents.ts";
import { type ListedModel, loadListedModels } from "../db/sources.ts";
import { judgeForSource, settleIntent } from "../rules/judge-intent.ts";
import type { SourceAnswer } from "../rules/source-answer.ts";
import { reservedKeys, type SourceIntent } from "../rules/source-intent.ts";
import { SOURCES, type TenantIntents } from "../rules/tenant-intents.ts";

export interface FoundIntents {
  readonly reserved: readonly ReservedKey[];
  readonly open: readonly string[];
  readonly listed: readonly ListedModel[];
}

const NO_INTENTS: FoundIntents = { reserved: [], open: [], listed: [] };

/** A step of a commit of a tenant some of whose models have sources. */
interface SourceStep<Answer> extends CommitStep<Answer> {
  /** The intent that it ends. Absent: it may begin one. */
  readonly ends?: SourceIntent;
}

/** A commit becomes an intent with this id if it writes records of a source. */
export const beginStep = (id: string): SourceStep<SourceIntent | "no sources"> => ({
  module: SOURCES,
  judge: (state, commit, room) =>
    ownerOf(state) === SOURCES ? judgeForSource(state, commit, id, room) : { answer: "no sources" },
});

/** Ends an intent by its source's answer. */
export const endStep = (intent: SourceIntent, answer: SourceAnswer): SourceStep<never> => ({
  module: SOURCES,
  ends: intent,
  judge: (state) => settleIntent(state, intent, answer),
});

const stepOf = ({ step }: Job): SourceStep<unknown> | undefined => (step?.module === SOURCES ? step : undefined);

/** What waits for sources, in rounds of commits. */
export const intentsInRounds: InRounds<FoundIntents> = {
  name: SOURCES,
  openLoad: () => ({ begin: load, end: async (_pipe, _jobs, _heads, found) => found ?? NO_INTENTS }),
  at: (_pipe, tenant, found) => stateAt(tenant, found),
  emptyAt: (tenant) => (hasSources(tenant.schema) ? undefined : stateAt(tenant, NO_INTENTS)),
  save: (_tenants, jobs, answers) => ({ statements: changesOf(jobs, answers), changed: [] }),
};

/** Commits on their way to the sources of their records: those in the way of the jobs, and those that the jobs end. */
async function load(pipe: Pipe, jobs: readonly Job[]): Promise<FoundIntents> {
  const steps = jobs.flatMap((job) => stepOf(job) ?? []);
  if (steps.length === 0) return NO_INTENTS;
  const beginning = jobs.filter((job) => stepOf(job)?.ends === undefined && stepOf(job));
  const keys = commitsOf(beginning).flatMap((commit) =>
    reservedKeys(commit).map((key) => ({ tenant: commit.principal.tenant, key })),
  );
  const ending = steps.flatMap(({ ends }) => ends ?? []);
  const tenants = [...new Set(beginning.map(tenantOf))];
  const [reserved, open, listed] = await pipe.send([
    loadReservations(keys),
    loadOpenIntents(ending),
    loadListedModels(tenants),
  ]);
  return { reserved, open, listed };
}

/** Whether some models of a tenant have sources. */
const hasSources = oncePerSchema(({ models }) => [...models.values()].some(({ model }) => model.source !== undefined));

/** What is known of one tenant's. */
const stateAt = (
  { head: { tenant }, schema }: Omit<TenantInRound, "jobs">,
  { reserved, open, listed }: FoundIntents,
): RoundModule & TenantIntents => ({
  takesCommits: hasSources(schema),
  reserved: new Set(reserved.filter((one) => one.tenant === tenant).map(({ key }) => key)),
  open: new Set(open),
  listed: new Set(listed.filter((one) => one.tenant === tenant).map(({ model }) => model)),
});

/** Stores what the round has begun, and deletes what it has ended. */
function changesOf(jobs: readonly Job[], outcomes: readonly RoundOutcome[]): Statement<void>[] {
  const begun: SourceIntent[] = [];
  const ended: SourceIntent[] = [];
  for (const [i, job] of jobs.entries()) {
    const [step, outcome] = [stepOf(job), outcomes[i]];
    if (!step || !outcome || "runBy" in outcome) continue;
    if (step.ends && outcome.commits && outcome.commits.length > 0) ended.push(step.ends);
    if (outcome.answer !== undefined && outcome.answer !== "no sources") begun.push(outcome.answer as SourceIntent);
  }
  return [...(begun.length > 0 ? [insertIntents(begun)] : []), ...(ended.length > 0 ? [deleteIntents(ended)] : [])];
}
