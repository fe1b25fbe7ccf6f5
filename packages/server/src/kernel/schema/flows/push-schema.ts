import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { ModelSchema, SchemaPush, SchemaPushed } from "@holdfast/sdk/protocol";
import { type LockedHead, lockHead } from "../../commits/db/heads.ts";
import { hasRecords } from "../../commits/db/records.ts";
import type { Database } from "../../connection/pool.ts";
import { type Transaction, transaction, transactionOn } from "../../connection/transaction.ts";
import { canonical } from "../../json/canonical.ts";
import { createLimiter, type Limiter } from "../../limits/limiter.ts";
import type { RecordPlaces } from "../../lists/flows/record-places.ts";
import { isRefusal, type Refusal, refuse } from "../../refusal.ts";
import { changesOf, insertSchema, readSchema, type StoredSchema } from "../db/model-schemas.ts";
import {
  adoptRecords,
  areFew,
  beginRewriting,
  bytesWrittenSince,
  claimRewritingHere,
  hasHiddenValues,
  moveAllGroups,
  readRows,
  whileRewriting,
} from "../db/rewritten-records.ts";
import {
  checkIndexes,
  checkSchema,
  diffSchemas,
  type Renames,
  readRenames,
  type SchemaDiff,
  spelledProblem,
  uselessIndexes,
} from "../rules/schema-push.ts";
import { keepValues } from "./keep-values.ts";
import {
  continues,
  finishRewriting,
  type ModelChanges,
  type Prepared,
  prepareRecords,
  prepareRows,
  prepareWritten,
} from "./rewrite-records.ts";

/**
 * Makes a schema the tenant's newest one, under the head's lock, so that no commit is judged by half of a change. If
 * the push changes many records, their new forms are prepared before, without that lock; only a few remain to be
 * rewritten under it.
 */
export async function pushSchema(
  pool: Database,
  hooks: PushHooks,
  tenant: number,
  push: SchemaPush,
  options: PushOptions = {},
): Promise<SchemaPushed | Refusal> {
  const refusal = checkSchema(push);
  if (refusal) return refusal;
  const outcome = await transaction(pool, (tx) => pushWithin(tx, hooks, tenant, push));
  if (!("unprepared" in outcome)) return outcome;
  const { stopping = new AbortController().signal } = options;
  try {
    const prepare = () => whileRewriting(pool, tenant, (client) => landPrepared(client, hooks, tenant, push, stopping));
    return (await inOrder(tenant, options, prepare)) ?? refuse("schema_busy");
  } catch (error) {
    // Nothing was committed, so the prepared forms do not take effect.
    if (stopping.aborted) return refuse("unavailable");
    throw error;
  }
}

/** The same in a transaction of the caller's. Nothing is written if too many records had to be rewritten. */
export const pushWithin = (
  tx: Transaction,
  hooks: PushHooks,
  tenant: number,
  push: SchemaPush,
): Promise<SchemaPushed | Refusal | Unprepared> => land(tx, hooks, tenant, push, undefined);

/** What modules do in the transaction that makes another schema the tenant's newest, in their order. */
export interface PushFollowers {
  readonly checkModels: readonly CheckModels[];
  readonly schemaPushed: readonly FollowPush[];
}

export interface PushHooks extends PushFollowers {
  readonly places: RecordPlaces;
}

/** Whether a module can serve the models of a push, and what it makes of them. */
export type CheckModels = (tx: Transaction, push: ModelsPush) => Promise<TakenModels | Refusal | undefined>;

export interface TakenModels {
  /** Sentences for the caller. */
  readonly warnings?: readonly string[];
  /** Models, in lower case, whose records read otherwise from now on. */
  readonly rewritten?: readonly string[];
  /** Called when the schema is stored. `upTo`: the end of the log. */
  stored?(upTo: number): Promise<void>;
}

export interface ModelsPush {
  readonly tenant: number;
  readonly before: ModelSchema;
  readonly pushed: ModelSchema;
  /** Models that have records, in lower case. */
  filled(): Promise<ReadonlySet<string>>;
  readonly force: boolean;
}

/** The schema is stored. */
export type FollowPush = (tx: Transaction, tenant: number, renames: FieldRenames) => Promise<void>;

/** By model: present names of fields, and by which they are called from now on. */
export type FieldRenames = ReadonlyMap<string, Readonly<Record<string, string>>>;

export interface PushOptions {
  /** Limits how many pushes prepare records at once. Each preparation uses a connection for a long time. */
  readonly preparing?: Limiter;
  /**
   * How long to wait: pushes of other tenants use the slots, and an earlier push of this tenant may still be moving
   * records into their rows. 30 s by default.
   */
  readonly patienceMs?: number;
  /** Aborts the preparation. */
  readonly stopping?: AbortSignal;
}

const ASKED_EVERY_MS = 200;

/**
 * Retries until the work is done, each time in a slot of its own: a push that waits for its own tenant does not block
 * others.
 */
async function inOrder<T>(
  tenant: number,
  { preparing = createLimiter({}), patienceMs = 30_000 }: PushOptions,
  attempt: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const waitMs = Math.max(0, until - performance.now());
    if (!(await preparing.enter(tenant, "", { waitMs }))) return undefined;
    const done = await attempt().finally(() => preparing.leave(tenant));
    if (done !== undefined || performance.now() >= until) return done;
    await setTimeout(ASKED_EVERY_MS);
  }
}

/** Prepares the records until few enough are left to rewrite under the head's lock. */
async function landPrepared(
  client: Transaction,
  hooks: PushHooks,
  tenant: number,
  push: SchemaPush,
  stopping: AbortSignal,
): Promise<SchemaPushed | Refusal> {
  await finishRewriting(client, tenant, stopping);
  for (let prepared: Prepared | undefined; ; ) {
    const outcome = await transactionOn(client, (tx) => land(tx, hooks, tenant, push, prepared));
    if (!("unprepared" in outcome)) return outcome;
    const { unprepared, rowsVersion } = outcome;
    prepared = await prepareRecords(client, tenant, { changes: unprepared, rowsVersion }, prepared, stopping);
  }
}

/** The records that a push changes. Nothing has been written yet. */
export interface Unprepared {
  readonly unprepared: ModelChanges;
  readonly rowsVersion: number;
}

async function land(
  tx: Transaction,
  hooks: PushHooks,
  tenant: number,
  push: SchemaPush,
  prepared: Prepared | undefined,
): Promise<SchemaPushed | Refusal | Unprepared> {
  const { models, force = false } = push;
  const hash = createHash("sha256").update(canonical(models)).digest("hex");
  const head = await lockHead(tx, tenant);
  const before = (await readSchema(tx, tenant, head.schemaVersion)) ?? NOTHING;
  if (before.hash === hash)
    return {
      object: "schema" as const,
      version: before.version,
      hash,
      unchanged: true,
      warnings: (push.renames ?? []).map(
        ({ model, from, to }) => `"${model}.${from}" was not renamed to "${to}": the schema has not changed.`,
      ),
    };
  const refused = checkIndexes(before, { models });
  if (refused) return refused;
  const { places, checkModels, schemaPushed } = hooks;
  let found: Promise<ReadonlySet<string>> | undefined;
  const readFilled = () => (found ??= modelsWithRecords(tx, places, tenant, before));
  const taken: TakenModels[] = [];
  for (const check of checkModels) {
    const outcome = (await check(tx, { tenant, before, pushed: { models }, filled: readFilled, force })) ?? {};
    if (isRefusal(outcome)) return outcome;
    taken.push(outcome);
  }
  const renames = readRenames(before, push);
  if (isRefusal(renames)) return renames;
  const filled = await readFilled();
  const diff = diffSchemas(before, { models }, (name) => filled.has(name.toLowerCase()), renames);
  if (diff.problems.length > 0 && !force) return refuse("schema_incompatible", { problems: [...diff.problems] });
  // Which values records hide is stored with their rows, so rows with a pending rewrite have to be finished first.
  if (head.rewriting && changesStored(before, diff)) return { unprepared: new Map(), rowsVersion: before.rowsVersion };
  const followed = taken.flatMap(({ rewritten = [] }) => rewritten);
  const rewritten = await modelsToRewrite(tx, tenant, before, diff, renames, followed);
  const regrouped = new Set([
    ...diff.regrouped,
    ...rewritten.filter((name) => before.hiddenModels.includes(name.toLowerCase())),
  ]);
  const changes = changesToRecords(places, models, rewritten, regrouped, renames);
  await tx.query("savepoint values");
  const change = await changeRecords(tx, head, before, changes, prepared);
  if (change === "unprepared") return { unprepared: changes, rowsVersion: before.rowsVersion };
  const duplicates = await keepValues(tx, tenant, before, { models }, new Set(changes.keys()));
  if (duplicates.length > 0) {
    await tx.query("rollback to values");
    return refuse("schema_incompatible", { problems: duplicates });
  }
  if (regrouped.size > 0) await moveAllGroups(tx, tenant);
  const hidden = diff.dropped.map((name) => name.toLowerCase());
  const version = head.schemaVersion + 1;
  const unreadable = before.unreadable.filter((key) => isPlaced(places, models, key));
  await insertSchema(tx, tenant, {
    version,
    hash,
    models,
    unreadable,
    changes: nextChanges(before, rewritten, renames, head.syncId),
    hiddenModels: [...before.hiddenModels.filter((key) => !isDeclared(models, key)), ...hidden],
    rowsVersion:
      rewritten.length + hidden.length + diff.regrouped.length + diff.recompared.length > 0 ||
      unreadable.length < before.unreadable.length
        ? version
        : before.rowsVersion,
  });
  for (const { stored } of taken) await stored?.(head.syncId);
  for (const then of schemaPushed) await then(tx, tenant, renames);
  return {
    object: "schema" as const,
    version,
    hash,
    unchanged: false,
    warnings: [...warningsOf({ models }, diff, regrouped, renames), ...taken.flatMap(({ warnings = [] }) => warnings)],
  };
}

/** Whether the push changes models that have stored records, or had some before they were dropped. */
const changesStored = ({ models, hiddenModels }: StoredSchema, { changed, regrouped }: SchemaDiff): boolean =>
  regrouped.length > 0 ||
  changed.some((name) => isDeclared(models, name.toLowerCase()) || hiddenModels.includes(name.toLowerCase()));

/**
 * The most that is rewritten under the head's lock, in records and bytes: all writers of the tenant wait for it. The
 * bound grows with each pass. If a tenant writes faster than its records are prepared, its writers wait longer in the
 * end.
 */
const LEFT = { records: 300, bytes: 2 * 2 ** 20 };

/** Rewrites the rest, and makes the prepared forms take effect. */
async function changeRecords(
  tx: Transaction,
  { tenant, syncId }: LockedHead,
  { rowsVersion }: StoredSchema,
  changes: ModelChanges,
  prepared: Prepared | undefined,
): Promise<"unprepared" | "changed"> {
  if (changes.size === 0) return "changed";
  if (prepared) {
    if (!continues(prepared, changes, rowsVersion)) return "unprepared";
    if (syncId - prepared.upTo > LEFT.records * prepared.passes) return "unprepared";
    const written = await bytesWrittenSince(tx, tenant, [...changes.keys()], prepared.upTo);
    if (written > LEFT.bytes * prepared.passes) return "unprepared";
    await prepareWritten((work) => work(tx), tenant, changes, prepared.upTo, syncId);
    await beginRewriting(tx, tenant);
    return "changed";
  }
  if (!(await areFew(tx, tenant, [...changes.keys()], LEFT))) return "unprepared";
  // Another push is preparing records.
  if (!(await claimRewritingHere(tx, tenant))) return "unprepared";
  for (const [model, change] of changes) {
    const ids = await prepareRows(tx, tenant, model, change, await readRows(tx, tenant, model, "", LEFT.records));
    const { text, values } = adoptRecords(ids.map((id) => ({ tenant, model, id })));
    await tx.query(text, [...values]);
  }
  return "changed";
}

const changesToRecords = (
  places: RecordPlaces,
  models: ModelSchema["models"],
  rewritten: readonly string[],
  regrouped: ReadonlySet<string>,
  renames: Renames,
): ModelChanges =>
  new Map(
    // Of records that a module has, nothing is stored that could be rewritten.
    [...new Set([...rewritten, ...regrouped])]
      .filter((name) => !isPlaced(places, models, name.toLowerCase()))
      .map((name) => {
        const key = name.toLowerCase();
        const isRewritten = rewritten.includes(name);
        return [
          key,
          {
            model: modelOf(models, name),
            renames: isRewritten ? (renames.get(key) ?? {}) : undefined,
            isRegrouped: regrouped.has(name),
          },
        ];
      }),
  );

const NOTHING: StoredSchema = {
  version: 0,
  hash: "",
  models: {},
  changes: {},
  hiddenModels: [],
  unreadable: [],
  rowsVersion: 0,
};

/** The models that have records, in lower case. */
async function modelsWithRecords(
  tx: Transaction,
  { has, filled }: RecordPlaces,
  tenant: number,
  { models }: StoredSchema,
): Promise<ReadonlySet<string>> {
  const asked = Object.entries(models).flatMap(([name, model]) => (has(model) ? name.toLowerCase() : []));
  const placed = asked.length > 0 ? await filled(tx, tenant, asked) : new Map<string, boolean>();
  const found = new Set<string>();
  for (const key of Object.keys(models).map((name) => name.toLowerCase()))
    if (placed.get(key) ?? (await hasRecords(tx, tenant, key))) found.add(key);
  return found;
}

/** Models whose stored rows, or whose log entries where no row is left, read differently under the new schema. */
async function modelsToRewrite(
  tx: Transaction,
  tenant: number,
  before: StoredSchema,
  { changed, problems }: SchemaDiff,
  renames: Renames,
  followed: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const name of changed) {
    const key = name.toLowerCase();
    const isOther =
      renames.has(key) ||
      followed.includes(key) ||
      before.hiddenModels.includes(key) ||
      problems.some(({ model, field }) => field !== undefined && model.toLowerCase() === key) ||
      (await hasHiddenValues(tx, tenant, key));
    if (isOther) found.push(name);
  }
  return found;
}

function nextChanges(
  before: StoredSchema,
  rewritten: readonly string[],
  renames: Renames,
  upTo: number,
): StoredSchema["changes"] {
  const keys = new Set([...rewritten.map((name) => name.toLowerCase()), ...renames.keys()]);
  const added = [...keys].map((key) => [key, [...changesOf(before, key), { upTo, renames: renames.get(key) ?? {} }]]);
  return { ...before.changes, ...Object.fromEntries(added) };
}

function warningsOf(
  schema: ModelSchema,
  { problems }: SchemaDiff,
  regrouped: ReadonlySet<string>,
  renames: Renames,
): string[] {
  return [
    ...problems.map(spelledProblem),
    ...[...renames.keys()].map((key) => `All records of "${key}" were updated with the new field names.`),
    ...[...regrouped].map((name) => `The groups of all records of "${name}" were updated.`),
    ...uselessIndexes(schema).map(
      (path) => `"${path}" does not need its index: lists cannot use an index on a json field.`,
    ),
  ];
}

const modelOf = (models: ModelSchema["models"], name: string) => models[name] as ModelSchema["models"][string];

const isPlaced = ({ has }: RecordPlaces, models: ModelSchema["models"], key: string): boolean =>
  Object.entries(models).some(([name, model]) => name.toLowerCase() === key && has(model));

const isDeclared = (models: ModelSchema["models"], key: string): boolean =>
  Object.keys(models).some((name) => name.toLowerCase() === key);
