import type { Model } from "@holdfast/sdk/protocol";
import { lockHead } from "../../../kernel/commits/db/heads.ts";
import { hasRecords } from "../../../kernel/commits/db/records.ts";
import { errorState, UNIQUE_VIOLATION } from "../../../kernel/connection/database-error.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { type Transaction, takeTime } from "../../../kernel/connection/transaction.ts";
import { isRefusal, sentenceOf } from "../../../kernel/refusal.ts";
import { readSchema } from "../../../kernel/schema/db/model-schemas.ts";
import { type PushHooks, pushWithin } from "../../../kernel/schema/flows/push-schema.ts";
import { deleteRecordsOf } from "../db/attached-records.ts";
import {
  forgetMissed,
  insertAttachment,
  installTriggers,
  type NewAttachment,
  readAttachments,
} from "../db/attachments.ts";
import { beingDetached } from "../rules/check-attached.ts";
import { hurry, type Patience, patiently } from "./patiently.ts";
import { requireRights } from "./require-rights.ts";
import { TableError } from "./table-error.ts";
import { tellToReadAgain } from "./tell-to-read-again.ts";

export interface TableToAttach extends Omit<NewAttachment, "model" | "attachedSyncId"> {
  /** The model's name as the schema will declare it. */
  readonly modelName: string;
  readonly model: Model;
}

export interface AttachOptions extends Patience {
  /** Removes the records that the model has, without log entries. Otherwise a model with records is refused. */
  readonly replace?: boolean;
}

/**
 * Attaches a table: its rows are the records of a model from then on. In one transaction the model comes into the schema,
 * triggers begin to capture changes, and clients are told to read the tenant's rows again. No row is read.
 */
export async function attachTable(
  pool: Database,
  hooks: PushHooks,
  table: TableToAttach,
  options: AttachOptions = {},
): Promise<void> {
  const model = table.modelName.toLowerCase();
  const before = (await readAttachments(pool, table.tenant)).find((one) => one.model === model);
  if (before && before.relation !== table.relation)
    throw new TableError(
      `The "${table.modelName}" model has a table already: ${before.name}. Choose another with --model.`,
    );
  if (before?.status === "detaching") throw new TableError(beingDetached(before));
  await requireRights(pool, "attach", table.relation);
  if (!before) await begin(pool, hooks, table, options);
}

async function begin(pool: Database, hooks: PushHooks, table: TableToAttach, options: AttachOptions): Promise<void> {
  try {
    await patiently(pool, table, options, (tx) => install(tx, hooks, table, options));
  } catch (error) {
    if (errorState(error) !== UNIQUE_VIOLATION) throw error;
    throw new TableError(`${table.name} is attached already: see "holdfast tables list".`);
  }
}

async function install(
  tx: Transaction,
  hooks: PushHooks,
  table: TableToAttach,
  { replace = false }: AttachOptions,
): Promise<void> {
  const { tenant, modelName } = table;
  const model = modelName.toLowerCase();
  const head = await lockHead(tx, tenant);
  if (replace) {
    await takeTime(tx);
    await deleteRecordsOf(tx, { tenant, model });
  } else if (await hasRecords(tx, tenant, model))
    throw new TableError(
      `The "${modelName}" model has records already. With --replace they are removed, and the table's rows take their place; or choose another model with --model.`,
    );
  await insertAttachment(tx, { ...table, model, attachedSyncId: head.syncId });
  const before = await readSchema(tx, tenant, head.schemaVersion);
  const others = Object.entries(before?.models ?? {}).filter(([name]) => name.toLowerCase() !== model);
  const outcome = await pushWithin(tx, hooks, tenant, {
    models: { ...Object.fromEntries(others), [modelName]: table.model },
    // It has no records that a change could hide.
    force: true,
  });
  if (isRefusal(outcome)) throw new TableError(sentenceOf(outcome));
  if ("unprepared" in outcome) throw new TableError("A schema push is still rewriting records: try again later.");
  await tellToReadAgain(tx, tenant, outcome.version);
  await hurry(tx);
  await installTriggers(tx, { ...table, model });
  await forgetMissed(tx, { tenant, model });
}
