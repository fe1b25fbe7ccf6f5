import type { Model } from "@holdfast/sdk/protocol";
import { lockHead } from "../../db/commits/heads.ts";
import { hasRecords } from "../../db/commits/records.ts";
import { errorState, UNIQUE_VIOLATION } from "../../db/connection/database-error.ts";
import type { Database } from "../../db/connection/pool.ts";
import type { Transaction } from "../../db/connection/transaction.ts";
import { insertSchema, readSchema } from "../../db/schema/model-schemas.ts";
import { insertReadRecords } from "../../db/tables/attached-records.ts";
import {
  insertAttachment,
  installTriggers,
  type NewAttachment,
  readAttachments,
  updateAttachment,
} from "../../db/tables/attachments.ts";
import { estimateRows, findTable, readTableRows } from "../../db/tables/table-rows.ts";
import { isRefusal, sentenceOf } from "../../rules/refusal.ts";
import { groupsOf } from "../../rules/schema/sync-group.ts";
import type { AttachedTable } from "../../rules/tables/attached-table.ts";
import { WRITTEN_BY } from "../../rules/tables/captured-commit.ts";
import { beingDetached } from "../../rules/tables/check-attached.ts";
import { readRowImage } from "../../rules/tables/row-image.ts";
import { pushWithin } from "../schema/push-schema.ts";
import { hurry, type Patience, patiently } from "./patiently.ts";
import { requireRights } from "./require-rights.ts";
import { TableError } from "./table-error.ts";

export interface TableToAttach extends Omit<NewAttachment, "model" | "attachedSyncId"> {
  /** The model's name as the schema will declare it. */
  readonly modelName: string;
  readonly model: Model;
}

export interface AttachOptions extends Patience {
  /** Called after each step with the rows read so far and about how many there are. */
  progress?(rows: number, about: number): void;
}

/**
 * Attaches a table: its rows become the records of a model.
 *
 *   one transaction: the model comes into the schema, and triggers begin to capture changes
 *   in steps:        the rows that were there before are read; a change captured meanwhile is newer, and wins
 *   at the end:      clients are told to read the tenant's rows again
 *
 * Run again after it was interrupted, it continues where it stopped.
 */
export async function attachTable(
  pool: Database,
  table: TableToAttach,
  options: AttachOptions = {},
): Promise<{ readonly rows: number }> {
  const model = table.modelName.toLowerCase();
  const known = async () => (await readAttachments(pool, table.tenant)).find((one) => one.model === model);
  const before = await known();
  if (before && before.relation !== table.relation)
    throw new TableError(
      `The "${table.modelName}" model has a table already: ${before.name}. Choose another with --model.`,
    );
  if (before?.status === "detaching") throw new TableError(beingDetached(before));
  await requireRights(pool, "attach", table.relation);
  if (!before) await begin(pool, table, options);
  const rows = await readEarlierRows(pool, table, known, options);
  return { rows };
}

async function begin(pool: Database, table: TableToAttach, options: AttachOptions): Promise<void> {
  try {
    await patiently(pool, table, options, (tx) => install(tx, table));
  } catch (error) {
    if (errorState(error) !== UNIQUE_VIOLATION) throw error;
    throw new TableError(`${table.name} is attached already: see "holdfast tables list".`);
  }
}

async function install(tx: Transaction, table: TableToAttach): Promise<void> {
  const { tenant, modelName } = table;
  const model = modelName.toLowerCase();
  const head = await lockHead(tx, tenant);
  if (await hasRecords(tx, tenant, model))
    throw new TableError(`The "${modelName}" model has records already: attach the table to another model.`);
  await insertAttachment(tx, { ...table, model, attachedSyncId: head.syncId });
  const before = await readSchema(tx, tenant, head.schemaVersion);
  const others = Object.entries(before?.models ?? {}).filter(([name]) => name.toLowerCase() !== model);
  const pushed = await pushWithin(tx, tenant, {
    models: { ...Object.fromEntries(others), [modelName]: table.model },
    // It has no records that a change could hide.
    force: true,
  });
  if (isRefusal(pushed)) throw new TableError(sentenceOf(pushed));
  if ("unprepared" in pushed) throw new TableError("A schema push is still rewriting records: try again later.");
  await hurry(tx);
  await installTriggers(tx, { ...table, model });
}

const STEP = 500;

async function readEarlierRows(
  pool: Database,
  table: TableToAttach,
  known: () => Promise<AttachedTable | undefined>,
  options: AttachOptions,
): Promise<number> {
  let rows = 0;
  for (;;) {
    const attached = await known();
    if (attached?.status !== "reading") return rows;
    const found = await findTable(pool, attached);
    if (!found) throw new TableError(`${attached.name} is gone, or its column ${attached.keyColumn}.`);
    rows += await patiently(pool, table, options, (tx) => readStep(tx, attached, found, table.model));
    options.progress?.(rows, await estimateRows(pool, table.relation));
  }
}

/** Under the head's lock, so that no captured change is recorded between the read and the insert. */
async function readStep(
  tx: Transaction,
  attached: AttachedTable,
  found: { readonly name: string; readonly keyType: string },
  model: Model,
): Promise<number> {
  const { tenant } = attached;
  const head = await lockHead(tx, tenant);
  const images = await readTableRows(tx, attached, found, attached.readTo, STEP);
  const rows = images.map((image) => readRowImage(image, attached));
  const records = rows.map(({ id = "", data }) => {
    const record = { id, ...data };
    return { id, data: JSON.stringify(record), groups: groupsOf(model, record) };
  });
  await insertReadRecords(tx, { ...attached, syncId: head.syncId, writtenBy: WRITTEN_BY }, records);
  if (rows.length === STEP)
    await updateAttachment(tx, attached, { status: "reading", readTo: rows.at(-1)?.id ?? null });
  else {
    await updateAttachment(tx, attached, { status: "attached", readTo: null });
    await tellToReadAgain(tx, tenant, head.schemaVersion);
  }
  return rows.length;
}

/** A schema whose rows have another version makes every client read its rows again. */
async function tellToReadAgain(tx: Transaction, tenant: number, version: number): Promise<void> {
  const schema = await readSchema(tx, tenant, version);
  if (schema) await insertSchema(tx, tenant, { ...schema, version: version + 1, rowsVersion: version + 1 });
}
