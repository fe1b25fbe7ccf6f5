import type { Pipe } from "../../db/connection/pipe.ts";
import type { Statement } from "../../db/connection/statement.ts";
import {
  deleteIntents,
  insertIntents,
  loadOpenIntents,
  loadReservations,
  type ReservedKey,
} from "../../db/sources/intents.ts";
import { type ListedModel, loadListedModels } from "../../db/sources/sources.ts";
import type { RoundModule } from "../../rules/commits/tenant-state.ts";
import { reservedKeys } from "../../rules/sources/source-intent.ts";
import { SOURCES, type TenantIntents } from "../../rules/sources/tenant-intents.ts";
import type { InRounds } from "../commits/in-rounds.ts";
import { commitsOf, type Job, tenantOf } from "../commits/job.ts";
import type { RoundAnswer } from "../commits/round-outcome.ts";

interface FoundIntents {
  readonly reserved: readonly ReservedKey[];
  readonly open: readonly string[];
  readonly listed: readonly ListedModel[];
}

const NO_INTENTS: FoundIntents = { reserved: [], open: [], listed: [] };

/** What waits for sources, in rounds of commits. */
export const intentsInRounds: InRounds<FoundIntents> = {
  name: SOURCES,
  openLoad: () => ({ begin: load, end: async (_pipe, _jobs, _heads, found) => found ?? NO_INTENTS }),
  at: (_pipe, { tenant }, _jobs, found) => stateAt(tenant, found),
  emptyAt: ({ tenant }) => stateAt(tenant, NO_INTENTS),
  save: (_tenants, jobs, answers) => ({ statements: changesOf(jobs, answers), changed: [] }),
};

/** Commits on their way to the sources of their records: those in the way of the jobs, and those that the jobs end. */
async function load(pipe: Pipe, jobs: readonly Job[]): Promise<FoundIntents> {
  if (!jobs.some(({ source }) => source)) return NO_INTENTS;
  const beginning = jobs.filter(({ source }) => source && !("intent" in source));
  const keys = commitsOf(beginning).flatMap((commit) =>
    reservedKeys(commit).map((key) => ({ tenant: commit.principal.tenant, key })),
  );
  const ending = jobs.flatMap(({ source }) => (source && "intent" in source ? [source.intent] : []));
  const tenants = [...new Set(beginning.map(tenantOf))];
  const [reserved, open, listed] = await pipe.send([
    loadReservations(keys),
    loadOpenIntents(ending),
    loadListedModels(tenants),
  ]);
  return { reserved, open, listed };
}

/** What is known of one tenant's. */
const stateAt = (tenant: number, { reserved, open, listed }: FoundIntents): RoundModule & TenantIntents => ({
  reserved: new Set(reserved.filter((one) => one.tenant === tenant).map(({ key }) => key)),
  open: new Set(open),
  listed: new Set(listed.filter((one) => one.tenant === tenant).map(({ model }) => model)),
});

/** Stores what the round has begun, and deletes what it has ended. */
function changesOf(jobs: readonly Job[], outcomes: readonly RoundAnswer[]): Statement<void>[] {
  const begun = outcomes.flatMap((outcome) =>
    typeof outcome === "object" && "intent" in outcome ? [outcome.intent] : [],
  );
  const ended = jobs.flatMap(({ source }, i) => {
    const outcome = outcomes[i];
    const isSettled = typeof outcome === "object" && (outcome.commits?.length ?? 0) > 0;
    return source && "intent" in source && isSettled ? [source.intent] : [];
  });
  return [...(begun.length > 0 ? [insertIntents(begun)] : []), ...(ended.length > 0 ? [deleteIntents(ended)] : [])];
}
