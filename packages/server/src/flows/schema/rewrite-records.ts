import { readHead } from "../../db/commits/heads.ts";
import type { Database } from "../../db/connection/pool.ts";
import { type Transaction, transactionOn } from "../../db/connection/transaction.ts";
import { holdOffErasures } from "../../db/log/erase.ts";
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
} from "../../db/schema/rewritten-records.ts";
import { changeRow, type ModelChange } from "../../rules/schema/schema-change.ts";

/** What a push does to records, by lower-case model. */
export type ModelChanges = ReadonlyMap<string, ModelChange>;

/** Records that were rewritten beside their rows: all that stood in them when the log ended at `upTo`. */
export interface Prepared {
  readonly changes: ModelChanges;
  /** The rows that they were made of: another push that rewrites rows makes them void. */
  readonly rowsVersion: number;
  readonly upTo: number;
  /** All records, then those that were written meanwhile, and so on. */
  readonly passes: number;
}

/** A step is as large as what takes this long: a writer that needs a row of it waits no longer. */
const STEP_MS = 40;
const FIRST_STEP = 50;
const LARGEST_STEP = 1_000;

/** Works in transactions of a step each, and rests as long as it worked: it shares the database with writers and readers. */
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

/** Prepares all records that change, or, behind an earlier pass, those that were written since. */
export async function prepareRecords(
  client: Transaction,
  tenant: number,
  { changes, rowsVersion }: Pick<Prepared, "changes" | "rowsVersion">,
  before: Prepared | undefined,
  stopping: AbortSignal,
): Promise<Prepared> {
  // Whatever is written from here on stands in the log behind this, and is prepared again.
  const { syncId: upTo, trimmedTo } = await readHead(client, tenant);
  const goesOn = before && continues(before, changes, rowsVersion) && trimmedTo <= before.upTo;
  // In parts, so that an erasure waits for one at most.
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

/** Whether what was prepared is what is wanted. */
export const continues = (prepared: Prepared, changes: ModelChanges, rowsVersion: number): boolean =>
  prepared.rowsVersion === rowsVersion &&
  [...changes].every(([model, { renames, isRefiled }]) => {
    const made = prepared.changes.get(model);
    return (
      made !== undefined &&
      made.isRefiled === isRefiled &&
      JSON.stringify(made.renames ?? null) === JSON.stringify(renames ?? null)
    );
  });

/** Does a part of the work: each in a transaction of its own, or all in one. */
export type InPart = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

const LOG_STEP = 1_000;
/** Records may have a few MiB each. */
const NAMED_STEP = 25;

/** Prepares the records that entries in (after, to] speak of. */
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

/** Keeps the new forms of records beside their rows. Answers the ids of those that have one. */
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

/** Ends what pushes left: forms that count go into their rows, others are thrown away. */
export async function settleRecords(client: Transaction, tenant: number, stopping: AbortSignal): Promise<void> {
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

/** Settles the records of all tenants. False: another process, or a push, is at one of them just now. */
export async function settleAllRecords(pool: Database, stopping: AbortSignal): Promise<boolean> {
  let isDone = true;
  for (const tenant of await readRewritingTenants(pool)) {
    const settled = await whileRewriting(pool, tenant, async (client) => {
      await settleRecords(client, tenant, stopping);
      return true;
    });
    isDone &&= settled === true;
  }
  return isDone;
}
