import type { ModelSchema } from "@holdfast/sdk/protocol";
import { lockHead, readHead } from "../../db/commits/heads.ts";
import type { Pipe } from "../../db/connection/pipe.ts";
import type { Database } from "../../db/connection/pool.ts";
import { type Transaction, takeTime, transaction } from "../../db/connection/transaction.ts";
import { readSchema } from "../../db/schema/model-schemas.ts";
import { deleteAllRecords } from "../../db/tables/attached-records.ts";
import { deleteAttachment, readAttachments, removeTriggers } from "../../db/tables/attachments.ts";
import { isRefusal, sentenceOf } from "../../rules/refusal.ts";
import { checkSchema } from "../../rules/schema/schema-push.ts";
import type { AttachedTable } from "../../rules/tables/attached-table.ts";
import { hostedModels } from "../../rules/tables/hosted-models.ts";
import type { RoundRules } from "../commits/commit-round.ts";
import { pushWithin } from "../schema/push-schema.ts";
import { TableError } from "./attach-table.ts";
import { drainChanges } from "./drain-changes.ts";

export interface DetachOptions {
  /** Removes the model and its records. Otherwise they stay, stored beside the log, and Holdfast writes them from then on. */
  readonly drop: boolean;
}

/**
 * Detaches a table: first the triggers go, then the changes that they captured are recorded, then the model is no
 * table's any more. The table itself keeps all its rows.
 */
export async function detachTable(
  pool: Database,
  drain: { readonly pipe: Pipe; readonly rules: RoundRules },
  tenant: number,
  model: string,
  { drop }: DetachOptions,
): Promise<void> {
  const all = await readAttachments(pool, tenant);
  const attached = all.find((one) => one.model === model.toLowerCase());
  if (!attached) throw new TableError(`No table is attached to the "${model}" model.`);
  const other = all.find((one) => one !== attached && one.problem !== null);
  // Its changes would keep those of this table from being recorded.
  if (other) throw new TableError(`Repair or detach ${other.name} first: ${other.problem}`);
  // Without triggers nothing is captured: whatever refuses to detach must do so before.
  const { schemaVersion } = await readHead(pool, tenant);
  const refusal = checkSchema({ models: await modelsWithout(pool, tenant, schemaVersion, attached, drop) });
  if (refusal) throw new TableError(sentenceOf(refusal));
  await transaction(pool, (tx) => removeTriggers(tx, attached.relation));
  // Changes that cannot be recorded go with the attachment.
  for (;;) {
    const drained = await drainChanges(drain.pipe, drain.rules, tenant);
    if (drained === "broken" || !drained.more) break;
  }
  await transaction(pool, (tx) => forget(tx, attached, drop));
}

async function forget(tx: Transaction, attached: AttachedTable, drop: boolean): Promise<void> {
  const { tenant, model } = attached;
  await takeTime(tx);
  const { schemaVersion } = await lockHead(tx, tenant);
  await deleteAttachment(tx, attached);
  if (drop) await deleteAllRecords(tx, tenant, model);
  const models = await modelsWithout(tx, tenant, schemaVersion, attached, drop);
  const pushed = await pushWithin(tx, tenant, { models, force: true });
  if (isRefusal(pushed)) throw new TableError(sentenceOf(pushed));
  if ("unprepared" in pushed) throw new TableError("A schema push is still rewriting records: try again later.");
}

/** The tenant's models as they are once the table is detached. */
async function modelsWithout(
  db: Transaction,
  tenant: number,
  version: number,
  { model }: AttachedTable,
  drop: boolean,
): Promise<ModelSchema["models"]> {
  const schema = await readSchema(db, tenant, version);
  const all = Object.entries(schema?.models ?? {});
  const isOwn = ([name]: readonly [string, unknown]) => name.toLowerCase() === model;
  const own = Object.fromEntries(all.filter(isOwn));
  return { ...Object.fromEntries(all.filter((one) => !isOwn(one))), ...(drop ? {} : hostedModels(own)) };
}
