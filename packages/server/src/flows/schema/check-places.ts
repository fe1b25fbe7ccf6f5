import type { ModelSchema } from "@holdfast/sdk/protocol";
import type { Transaction } from "../../db/connection/transaction.ts";
import { hasIntents, withdrawIntents } from "../../db/sources/intents.ts";
import { listSources } from "../../db/sources/sources.ts";
import { readAttachments } from "../../db/tables/attachments.ts";
import { type Refusal, refuse } from "../../rules/refusal.ts";
import { checkSourceModels } from "../../rules/sources/check-source-models.ts";
import { checkAttachedModels } from "../../rules/tables/check-attached-models.ts";
import { hasSources, hasTables, sourcesOf } from "../../rules/tables/hosted-models.ts";

/** Checks the models with tables against the tables that are attached. Most tenants have none. */
export async function checkTables(
  tx: Transaction,
  tenant: number,
  before: ModelSchema,
  pushed: ModelSchema,
): Promise<Refusal | undefined> {
  const isNamed = hasTables(before.models) || hasTables(pushed.models);
  return isNamed ? checkAttachedModels(pushed, await readAttachments(tx, tenant)) : undefined;
}

/** Checks the models with sources against those that are registered. Most tenants have none. */
export async function checkSources(
  tx: Transaction,
  tenant: number,
  before: ModelSchema,
  pushed: ModelSchema,
  filled: ReadonlySet<string>,
): Promise<Refusal | undefined> {
  if (!hasSources(pushed.models)) return undefined;
  const known = (await listSources(tx, tenant)).map(({ id }) => id);
  return checkSourceModels(before, pushed, { known, filled });
}

/**
 * Commits that are on their way to a source that no model names any more would end by an answer that no one asks for. A
 * push with `force` forgets them.
 */
export async function leaveSources(
  tx: Transaction,
  tenant: number,
  before: ModelSchema,
  pushed: ModelSchema,
  force: boolean,
): Promise<Refusal | undefined> {
  const kept = sourcesOf(pushed.models);
  for (const source of sourcesOf(before.models).filter((one) => !kept.includes(one)))
    if (force) await withdrawIntents(tx, tenant, source);
    else if (await hasIntents(tx, tenant, source))
      return refuse("schema_busy", {
        message: `Commits are on their way to the datasource ${source}. Push again when it has answered, or with "force" to forget them.`,
      });
  return undefined;
}
