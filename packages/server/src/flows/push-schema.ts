import { createHash } from "node:crypto";
import type { ModelSchema, SchemaPushed } from "@holdfast/sdk/protocol";
import { lockHeads } from "../db/heads.ts";
import { insertSchema, readSchema } from "../db/model-schemas.ts";
import type { Database } from "../db/pool.ts";
import { hasRecords } from "../db/records.ts";
import { refileRecords } from "../db/refile.ts";
import { transaction } from "../db/transaction.ts";
import { canonical } from "../rules/canonical.ts";
import { type Refusal, refuse } from "../rules/refusal.ts";
import { checkSchema, diffSchemas, uselessIndexes } from "../rules/schema-push.ts";

/** Makes a schema the world's newest one, under the head's lock: no commit is judged by half of a change. */
export async function pushSchema(
  pool: Database,
  world: number,
  { models }: ModelSchema,
): Promise<SchemaPushed | Refusal> {
  const refusal = checkSchema({ models });
  if (refusal) return refusal;
  const hash = createHash("sha256").update(canonical(models)).digest("hex");
  return await transaction(pool, async (tx) => {
    const { text, values, read } = lockHeads([world]);
    const head = read((await tx.query(text, [...values])).rows, "")[0];
    if (!head) throw new Error(`World ${world} has no head.`);
    const before = await readSchema(tx, world, head.schemaVersion);
    if (before?.hash === hash)
      return { object: "schema" as const, version: before.version, hash, unchanged: true, warnings: [] };
    const filled = new Set<string>();
    for (const name of Object.keys(before?.models ?? {}))
      if (await hasRecords(tx, world, name.toLowerCase())) filled.add(name);
    const { problems, refiled } = diffSchemas(before ?? { models: {} }, { models }, (name) => filled.has(name));
    if (problems.length > 0) return refuse("schema_incompatible", { problems: [...problems] });
    const version = head.schemaVersion + 1;
    await insertSchema(tx, world, { version, hash, models });
    for (const name of refiled)
      await refileRecords(tx, world, name.toLowerCase(), models[name] as (typeof models)[string]);
    return {
      object: "schema" as const,
      version,
      hash,
      unchanged: false,
      warnings: [
        ...refiled.map((name) => `Every record of "${name}" was filed under its new groups.`),
        ...uselessIndexes({ models }).map((path) => `"${path}" needs no index: lists know nothing of arrays and json.`),
      ],
    };
  });
}
