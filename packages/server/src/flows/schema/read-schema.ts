import type { SchemaRead } from "@holdfast/sdk/protocol";
import { readHead } from "../../db/commits/heads.ts";
import type { Database } from "../../db/connection/pool.ts";
import { readSchema as readStored } from "../../db/schema/model-schemas.ts";
import { type Refusal, refuse } from "../../rules/refusal.ts";

/** The tenant's current schema. */
export async function readSchema(db: Database, tenant: number): Promise<SchemaRead | Refusal> {
  const { schemaVersion } = await readHead(db, tenant);
  const schema = await readStored(db, tenant, schemaVersion);
  return schema
    ? { object: "schema", version: schema.version, hash: schema.hash, models: schema.models }
    : refuse("schema_not_found");
}
