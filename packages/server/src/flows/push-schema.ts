import { createHash } from "node:crypto";
import type { ModelSchema, SchemaPush, SchemaPushed } from "@holdfast/sdk/protocol";
import { renameClaimedFields } from "../db/claims.ts";
import { lockHeads } from "../db/heads.ts";
import { changesOf, insertSchema, readSchema, type StoredSchema } from "../db/model-schemas.ts";
import type { Database } from "../db/pool.ts";
import { hasRecords } from "../db/records.ts";
import { refileRecords } from "../db/refile.ts";
import { hasHiddenValues, rewriteRecords } from "../db/rewrite.ts";
import { type Transaction, transaction } from "../db/transaction.ts";
import { lockEndpoints, updateEndpoint } from "../db/webhook-endpoints.ts";
import { canonical } from "../rules/canonical.ts";
import { revise } from "../rules/delivery.ts";
import { isRefusal, type Refusal, refuse } from "../rules/refusal.ts";
import { rewriteRow } from "../rules/schema-change.ts";
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

/** Makes a schema the world's newest one, under the head's lock: no commit is judged by half of a change. */
export async function pushSchema(pool: Database, world: number, push: SchemaPush): Promise<SchemaPushed | Refusal> {
  const { models, force = false } = push;
  const refusal = checkSchema({ models });
  if (refusal) return refusal;
  const hash = createHash("sha256").update(canonical(models)).digest("hex");
  return await transaction(pool, async (tx) => {
    const { text, values, read } = lockHeads([world]);
    const head = read((await tx.query(text, [...values])).rows, "")[0];
    if (!head) throw new Error(`World ${world} has no head.`);
    const before = (await readSchema(tx, world, head.schemaVersion)) ?? NOTHING;
    if (before.hash === hash)
      return {
        object: "schema" as const,
        version: before.version,
        hash,
        unchanged: true,
        warnings: (push.renames ?? []).map(
          ({ model, from, to }) =>
            `"${model}.${from}" was not renamed to "${to}": the schema is the one that was there.`,
        ),
      };
    const tooMany = checkIndexes(before, { models });
    if (tooMany) return tooMany;
    const renames = readRenames(before, push);
    if (isRefusal(renames)) return renames;
    const filled = await modelsWithRecords(tx, world, before);
    const diff = diffSchemas(before, { models }, (name) => filled.has(name.toLowerCase()), renames);
    if (diff.problems.length > 0 && !force) return refuse("schema_incompatible", { problems: [...diff.problems] });
    const rewritten = await modelsToRewrite(tx, world, before, diff, renames);
    const hidden = diff.dropped.map((name) => name.toLowerCase());
    const version = head.schemaVersion + 1;
    await insertSchema(tx, world, {
      version,
      hash,
      models,
      changes: nextChanges(before, rewritten, renames, head.syncId),
      hiddenModels: [...before.hiddenModels.filter((key) => !isDeclared(models, key)), ...hidden],
      rowsVersion: rewritten.length + hidden.length + diff.refiled.length > 0 ? version : before.rowsVersion,
    });
    // What webhooks tell of a position may be said in other words now.
    for (const endpoint of await lockEndpoints(tx, world))
      await updateEndpoint(tx, { ...endpoint, delivery: revise(endpoint.delivery) });
    for (const [key, names] of renames) await renameClaimedFields(tx, world, key, names);
    for (const name of rewritten) await rewriteModel(tx, world, name, models, renames);
    const refiled = new Set([
      ...diff.refiled,
      ...rewritten.filter((name) => before.hiddenModels.includes(name.toLowerCase())),
    ]);
    for (const name of refiled) await refileRecords(tx, world, name.toLowerCase(), modelOf(models, name));
    return {
      object: "schema" as const,
      version,
      hash,
      unchanged: false,
      warnings: warningsOf({ models }, diff, refiled, renames),
    };
  });
}

const NOTHING: StoredSchema = { version: 0, hash: "", models: {}, changes: {}, hiddenModels: [], rowsVersion: 0 };

/** The models that have records; in lower case. */
async function modelsWithRecords(tx: Transaction, world: number, before: StoredSchema): Promise<ReadonlySet<string>> {
  const filled = new Set<string>();
  for (const key of Object.keys(before.models).map((name) => name.toLowerCase()))
    if (await hasRecords(tx, world, key)) filled.add(key);
  return filled;
}

/**
 * Models whose stored rows, or entries where no row is left, say something else under the new schema than under the old
 * one.
 */
async function modelsToRewrite(
  tx: Transaction,
  world: number,
  before: StoredSchema,
  { changed, problems }: SchemaDiff,
  renames: Renames,
): Promise<string[]> {
  const found: string[] = [];
  for (const name of changed) {
    const key = name.toLowerCase();
    const isOther =
      renames.has(key) ||
      before.hiddenModels.includes(key) ||
      problems.some(({ model, field }) => field !== undefined && model.toLowerCase() === key) ||
      (await hasHiddenValues(tx, world, key));
    if (isOther) found.push(name);
  }
  return found;
}

function rewriteModel(
  tx: Transaction,
  world: number,
  name: string,
  models: ModelSchema["models"],
  renames: Renames,
): Promise<void> {
  const key = name.toLowerCase();
  const model = modelOf(models, name);
  return rewriteRecords(tx, world, key, (row) => rewriteRow(row, renames.get(key) ?? {}, model));
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
  refiled: ReadonlySet<string>,
  renames: Renames,
): string[] {
  return [
    ...problems.map(spelledProblem),
    ...[...renames.keys()].map((key) => `Every record of "${key}" was rewritten with its fields' new names.`),
    ...[...refiled].map((name) => `Every record of "${name}" was filed under its new groups.`),
    ...uselessIndexes(schema).map((path) => `"${path}" needs no index: lists know nothing of arrays and json.`),
  ];
}

const modelOf = (models: ModelSchema["models"], name: string) => models[name] as ModelSchema["models"][string];

const isDeclared = (models: ModelSchema["models"], key: string): boolean =>
  Object.keys(models).some((name) => name.toLowerCase() === key);
