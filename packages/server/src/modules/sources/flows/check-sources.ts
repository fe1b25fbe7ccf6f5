import type { ModelSchema } from "@holdfast/sdk/protocol";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { ModelsPush } from "../../../kernel/schema/flows/push-schema.ts";
import { hasIntents, withdrawIntents } from "../db/intents.ts";
import { listSources } from "../db/sources.ts";
import { checkSourceModels } from "../rules/check-source-models.ts";

/** What a push says of sources. Most tenants have none. */
export const checkSources = async (tx: Transaction, push: ModelsPush): Promise<Refusal | undefined> =>
  (await checkRegistered(tx, push)) ?? (await leaveSources(tx, push));

/** Checks the models with sources against those that are registered. */
async function checkRegistered(
  tx: Transaction,
  { tenant, before, pushed, filled }: ModelsPush,
): Promise<Refusal | undefined> {
  if (sourcesOf(pushed).length === 0) return undefined;
  const known = (await listSources(tx, tenant)).map(({ id }) => id);
  return checkSourceModels(before, pushed, { known, filled: await filled() });
}

/**
 * Commits that are on their way to a source that no model names any more would end by an answer that no one asks for. A
 * push with `force` forgets them.
 */
async function leaveSources(
  tx: Transaction,
  { tenant, before, pushed, force }: ModelsPush,
): Promise<Refusal | undefined> {
  const kept = sourcesOf(pushed);
  for (const source of sourcesOf(before).filter((one) => !kept.includes(one)))
    if (force) await withdrawIntents(tx, tenant, source);
    else if (await hasIntents(tx, tenant, source))
      return refuse("schema_busy", {
        message: `Commits wait for an answer of the datasource ${source}. Push again when it has answered, or push with "force" to drop these commits.`,
      });
  return undefined;
}

/** The datasources that models name. */
const sourcesOf = ({ models }: ModelSchema): readonly string[] => [
  ...new Set(Object.values(models).flatMap(({ source }) => source ?? [])),
];
