import { setTimeout } from "node:timers/promises";
import type { Model } from "@holdfast/sdk/protocol";
import { lockHead } from "../../db/commits/heads.ts";
import { hasRecords } from "../../db/commits/records.ts";
import { errorState, LOCK_NOT_AVAILABLE, UNIQUE_VIOLATION } from "../../db/connection/database-error.ts";
import type { Database } from "../../db/connection/pool.ts";
import { type Transaction, transaction } from "../../db/connection/transaction.ts";
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
import { readRowImage } from "../../rules/tables/row-image.ts";
import { pushWithin } from "../schema/push-schema.ts";

/** A table cannot be attached as it is: the message says why, and what to do. */
export class TableError extends Error {}

export interface TableToAttach extends Omit<NewAttachment, "model" | "attachedSyncId"> {
  /** The model's name as the schema will declare it. */
  readonly modelName: string;
  readonly model: Model;
}

export interface AttachOptions {
  /** Called after each step with the rows read so far and about how many there are. */
  progress?(rows: number, about: number): void;
  /** The triggers wait for transactions that have written to the table. */
  waiting?(): void;
  readonly stopping?: AbortSignal;
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
  if (!before) await begin(pool, table, options);
  const rows = await readEarlierRows(pool, table, known, options);
  return { rows };
}

/** `create trigger` waits for all that write to the table, and new writers wait behind it: so it gives up soon. */
const TRIGGER_WAIT_MS = 300;
/** The head is locked for a round at a time. Waiting for it does not hold up anyone else. */
const HEAD_WAIT_MS = 2_000;
const TRIES = 100;

/** Runs `work` in a transaction, again each time that it could not get a lock. */
async function patiently<T>(
  pool: Database,
  { name }: TableToAttach,
  { waiting, stopping }: AttachOptions,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    stopping?.throwIfAborted();
    try {
      return await transaction(pool, async (tx) => {
        await tx.query(`set local lock_timeout = ${HEAD_WAIT_MS}`);
        return work(tx);
      });
    } catch (error) {
      if (errorState(error) !== LOCK_NOT_AVAILABLE) throw error;
      if (tried === TRIES)
        throw new TableError(`${name} could not be attached: a transaction has held a lock on it all the time.`);
      waiting?.();
      await setTimeout(TRIGGER_WAIT_MS);
    }
  }
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
  await tx.query(`set local lock_timeout = ${TRIGGER_WAIT_MS}`);
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
