import { readHead } from "../../commits/db/heads.ts";
import type { Database } from "../../connection/pool.ts";
import { type Transaction, transactionOn } from "../../connection/transaction.ts";
import { holdOffErasures } from "../../log/db/erase.ts";
import {
  adoptStep,
  dropStep,
  endRewriting,
  readNamedRows,
  readRewritingTenants,
  readRows,
  readWrittenSince,
  type StepEnd,
  type StoredRecord,
  saveRewritten,
  whileRewriting,
} from "../db/rewritten-records.ts";
import { changeRow, type ModelChange } from "../rules/schema-change.ts";

/** What a push does to records, by lower-case model. */
export type ModelChanges = ReadonlyMap<string, ModelChange>;

/** Records whose new forms are stored beside their rows: everything in them when the log ended at `upTo`. */
export interface Prepared {
  readonly changes: ModelChanges;
  /** The version of the rows that the forms were made from. Another push that rewrites rows invalidates them. */
  readonly rowsVersion: number;
  readonly upTo: number;
  /** The first pass covers all records, each further pass those written meanwhile. */
  readonly passes: number;
}

/** The target duration of a step: a writer that needs one of its rows waits at most this long. */
const STEP_MS = 40;
const FIRST_STEP = 50;
const LARGEST_STEP = 1_000;

/**
 * Works in steps of one transaction each, with a pause as long as the step in between, to leave the database to readers
 * and writers.
 */
async function inSteps(
  client: Transaction,
  step: (tx: Transaction, size: number) => Promise<"more" | "done">,
  stopping: AbortSignal,
): Promise<void> {
  for (let size = FIRST_STEP; ; ) {
    stopping.throwIfAborted();
    const begun = performance.now();
    const state = await transactionOn(client, (tx) => step(tx, size));
    if (state === "done") return;
    const tookMs = performance.now() - begun;
    size = Math.ceil(Math.min(Math.max((size * STEP_MS) / tookMs, 1), 2 * size, LARGEST_STEP));
    await pause(tookMs);
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Prepares all records that change, or after an earlier pass only those written since. */
export async function prepareRecords(
  client: Transaction,
  tenant: number,
  { changes, rowsVersion }: Pick<Prepared, "changes" | "rowsVersion">,
  before: Prepared | undefined,
  stopping: AbortSignal,
): Promise<Prepared> {
  // Everything written from here on comes after this position in the log, and is prepared in the next pass.
  const { syncId: upTo, trimmedTo } = await readHead(client, tenant);
  const goesOn = before && continues(before, changes, rowsVersion) && trimmedTo <= before.upTo;
  // One transaction per part, so that an erasure waits for one part at most.
  const apart: InPart = (work) =>
    transactionOn(client, async (tx) => {
      await holdOffErasures(tx, tenant);
      return work(tx);
    });
  if (goesOn) await prepareWritten(apart, tenant, changes, before.upTo, upTo);
  else {
    await dropRewritten(client, tenant, stopping);
    for (const [model, change] of changes) {
      let after = "";
      await inSteps(
        client,
        async (tx, size) => {
          await holdOffErasures(tx, tenant);
          const records = await readRows(tx, tenant, model, after, size);
          await prepareRows(tx, tenant, model, change, records);
          after = records.at(-1)?.id ?? after;
          return records.length === 0 ? "done" : "more";
        },
        stopping,
      );
    }
  }
  return { changes, rowsVersion, upTo, passes: goesOn ? before.passes + 1 : 1 };
}

/** Whether the prepared forms match what this push needs. */
export const continues = (prepared: Prepared, changes: ModelChanges, rowsVersion: number): boolean =>
  prepared.rowsVersion === rowsVersion &&
  [...changes].every(([model, { renames, isRegrouped }]) => {
    const made = prepared.changes.get(model);
    return (
      made !== undefined &&
      made.isRegrouped === isRegrouped &&
      JSON.stringify(made.renames ?? null) === JSON.stringify(renames ?? null)
    );
  });

/** Runs a part of the work, either in its own transaction or in a shared one. */
export type InPart = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

const LOG_STEP = 1_000;
/** A small step: records may have a few MiB each. */
const NAMED_STEP = 25;

/** Prepares the records that entries in (after, to] changed. */
export async function prepareWritten(
  inPart: InPart,
  tenant: number,
  changes: ModelChanges,
  after: number,
  to: number,
): Promise<void> {
  for (let from = after; from < to; from += LOG_STEP) {
    const end = Math.min(from + LOG_STEP, to);
    const written = await inPart((tx) => readWrittenSince(tx, tenant, [...changes.keys()], from, end));
    for (const [model, ids] of written)
      for (let i = 0; i < ids.length; i += NAMED_STEP)
        await inPart(async (tx) => {
          const records = await readNamedRows(tx, tenant, model, ids.slice(i, i + NAMED_STEP));
          await prepareRows(tx, tenant, model, changes.get(model) as ModelChange, records);
        });
  }
}

/** Stores the new forms of records beside their rows. Returns the ids of the records that have one. */
export async function prepareRows(
  tx: Transaction,
  tenant: number,
  model: string,
  change: ModelChange,
  records: readonly StoredRecord[],
): Promise<string[]> {
  const changed = records.flatMap((record) => {
    const after = changeRow(record, change);
    return after ? [{ id: record.id, syncId: record.syncId, ...after }] : [];
  });
  await saveRewritten(tx, tenant, model, changed);
  return changed.map(({ id }) => id);
}

/** Cleans up after pushes: moves forms that took effect into their rows, and deletes the others. */
export async function finishRewriting(client: Transaction, tenant: number, stopping: AbortSignal): Promise<void> {
  const { rewriting } = await readHead(client, tenant);
  if (!rewriting) return dropRewritten(client, tenant, stopping);
  while (!(await endRewriting(client, tenant))) {
    let after: StepEnd = { model: "", id: "" };
    await inSteps(
      client,
      async (tx, size) => {
        const end = await adoptStep(tx, tenant, after, size);
        after = end ?? after;
        return end ? "more" : "done";
      },
      stopping,
    );
  }
}

const dropRewritten = (client: Transaction, tenant: number, stopping: AbortSignal): Promise<void> =>
  inSteps(client, async (tx, size) => ((await dropStep(tx, tenant, size)) < size ? "done" : "more"), stopping);

/** Finishes the rewriting of all tenants. Returns false if another process or a push is working on one of them. */
export async function finishAllRewriting(pool: Database, stopping: AbortSignal): Promise<boolean> {
  let isDone = true;
  for (const tenant of await readRewritingTenants(pool)) {
    const finished = await whileRewriting(pool, tenant, async (client) => {
      await finishRewriting(client, tenant, stopping);
      return true;
    });
    isDone &&= finished === true;
  }
  return isDone;
}
