import type { ModelSchema } from "@holdfast/sdk/protocol";
import { lockHead, readHead } from "../../../kernel/commits/db/heads.ts";
import type { RoundRules } from "../../../kernel/commits/flows/in-rounds.ts";
import { errorState } from "../../../kernel/connection/database-error.ts";
import type { Pipe } from "../../../kernel/connection/pipe.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { type Transaction, takeTime, transaction } from "../../../kernel/connection/transaction.ts";
import { isRefusal, sentenceOf } from "../../../kernel/refusal.ts";
import { readSchema } from "../../../kernel/schema/db/model-schemas.ts";
import { type PushHooks, pushWithin } from "../../../kernel/schema/flows/push-schema.ts";
import { hostedModels } from "../../../kernel/schema/rules/hosted-models.ts";
import { checkSchema } from "../../../kernel/schema/rules/schema-push.ts";
import { copySomeValues, deleteRecordsWithoutValues, deleteSomeRecords } from "../db/attached-records.ts";
import {
  deleteAttachment,
  dropEndedTriggers,
  endTriggers,
  readAttachments,
  updateAttachment,
} from "../db/attachments.ts";
import { countCapturedChanges } from "../db/captured-changes.ts";
import { estimateRows } from "../db/table-rows.ts";
import type { AttachedTable } from "../rules/attached-table.ts";
import { drainChanges } from "./drain-changes.ts";
import { hurry, type Patience, patiently } from "./patiently.ts";
import { requireRights } from "./require-rights.ts";
import { TableError } from "./table-error.ts";
import { relationsOfTables } from "./table-relations.ts";

export interface DetachOptions extends Patience {
  /** Removes the model and its records. Otherwise they stay, stored beside the log, and Holdfast writes them from then on. */
  readonly drop: boolean;
  /** Called after each step: how many changes are recorded, values kept or records removed, of about how many. */
  progress?(step: "changes" | "values" | "records", done: number, about: number): void;
  /** How many records went because their rows are larger than can be read. */
  leftOut?(count: number): void;
}

/**
 * Detaches a table, which keeps all its rows:
 *
 *   one transaction:  the triggers end, and from here on clients' writes to the model are refused for now
 *   one for a table:  its triggers are dropped
 *   in steps:         what the triggers captured is recorded
 *   in steps:         the records get the values of their rows
 *   one transaction:  the model is no table's any more
 *
 * Run again after it was interrupted, it goes on.
 */
export async function detachTable(
  pool: Database,
  hooks: PushHooks,
  drain: { readonly pipe: Pipe; readonly rules: RoundRules },
  tenant: number,
  model: string,
  options: DetachOptions,
): Promise<void> {
  const { drop, progress } = options;
  const all = await readAttachments(pool, tenant);
  const attached = all.find((one) => one.model === model.toLowerCase());
  if (!attached) throw new TableError(`No table is attached to the "${model}" model.`);
  // Without triggers nothing is captured: whatever refuses to detach must do so before.
  const { schemaVersion } = await readHead(pool, tenant);
  const models = await modelsWithout(pool, tenant, schemaVersion, attached, drop);
  // A push names one model at least. Of an organization's only table there is nothing else to push.
  const refusal = Object.keys(models).length === 0 ? undefined : checkSchema({ models });
  if (refusal) throw new TableError(sentenceOf(refusal));
  if (!drop && (attached.sqlName === "" || attached.keyType === null))
    throw new TableError(
      `The table ${attached.name} or its column ${attached.keyColumn} no longer exists, so its records cannot be kept: use --drop.`,
    );
  await requireRights(pool, drop ? "drop" : "detach", attached.relation);
  const ended = await patiently(pool, attached, options, (tx) => leave(tx, attached));
  for (const relation of ended) await patiently(pool, attached, options, (tx) => dropTriggers(tx, tenant, relation));
  const waiting = await countCapturedChanges(pool, tenant);
  const broken = new Set<string>();
  // Changes that cannot be recorded go with the attachment. Those of another broken table wait.
  for (let recorded = 0; !broken.has(attached.model); ) {
    const drained = await drainChanges(drain.pipe, drain.rules, tenant, [...broken]).catch(takenAway);
    if (drained === "unfit") break;
    if ("problem" in drained) broken.add(drained.model);
    else if (drained.more) recorded += drained.to - drained.from;
    else break;
    progress?.("changes", recorded, waiting);
  }
  const about = await estimateRows(pool, attached.relation);
  if (!drop) await keepValues(pool, attached, { ...options, about });
  await transaction(pool, (tx) => forget(tx, hooks, attached, { ...options, about }));
}

/** A value that the log cannot take must not keep its table attached. */
function takenAway(error: unknown): "unfit" {
  if (error instanceof RangeError || /^(22|54)/.test(errorState(error) ?? "")) return "unfit";
  throw error;
}

/** Under the head's lock: a round that wrote the table without triggers would not see what the table made of it. */
async function leave(tx: Transaction, attached: AttachedTable): Promise<number[]> {
  await lockHead(tx, attached.tenant);
  await updateAttachment(tx, attached, { ...attached, status: "detaching" });
  await hurry(tx);
  return endTriggers(tx, attached.relation);
}

/** Under the head's lock: another detaching of the same table may be at it. */
async function dropTriggers(tx: Transaction, tenant: number, relation: number): Promise<void> {
  await lockHead(tx, tenant);
  await hurry(tx);
  await dropEndedTriggers(tx, relation);
}

const STEP = 10_000;
const COPIED = 1_000;

/** Each step in a transaction of its own, so that the next one goes on where this one stopped. */
async function keepValues(
  pool: Database,
  attached: AttachedTable,
  { progress, leftOut, about }: DetachOptions & { readonly about: number },
): Promise<void> {
  const [relation] = relationsOfTables([attached]).values();
  let tooLarge = 0;
  for (let kept = 0, more = relation !== undefined; relation && more; ) {
    const count = await transaction(pool, async (tx) => {
      const [own] = (await readAttachments(tx, attached.tenant)).filter(({ model }) => model === attached.model);
      const page = await copySomeValues(tx, relation, own?.copiedTo ?? null, COPIED);
      if (page.last !== null) await updateAttachment(tx, attached, { status: "detaching", copiedTo: page.last });
      tooLarge += page.leftOut;
      return page.count;
    });
    kept += count;
    more = count === COPIED;
    progress?.("values", kept, about);
  }
  if (tooLarge > 0) leftOut?.(tooLarge);
}

async function forget(
  tx: Transaction,
  hooks: PushHooks,
  attached: AttachedTable,
  { drop, progress, about }: DetachOptions & { readonly about: number },
): Promise<void> {
  const { tenant } = attached;
  await takeTime(tx);
  const { schemaVersion } = await lockHead(tx, tenant);
  await deleteAttachment(tx, attached);
  for (let after: string | null = null, more = drop, removed = 0; more; ) {
    const { count, last }: Awaited<ReturnType<typeof deleteSomeRecords>> = await deleteSomeRecords(
      ...([tx, attached, after, STEP] as const),
    );
    removed += count;
    after = last;
    more = last !== null;
    progress?.("records", removed, about);
  }
  await deleteRecordsWithoutValues(tx, attached);
  const models = await modelsWithout(tx, tenant, schemaVersion, attached, drop);
  const outcome = await pushWithin(tx, hooks, tenant, { models, force: true });
  if (isRefusal(outcome)) throw new TableError(sentenceOf(outcome));
  if ("unprepared" in outcome) throw new TableError("A schema push is still rewriting records: try again later.");
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
