import type { SchemaRead } from "@holdfast/sdk/protocol";
import { readHead } from "../../commits/db/heads.ts";
import type { Database } from "../../connection/pool.ts";
import { type Refusal, refuse } from "../../refusal.ts";
import { readSchema as readStored } from "../db/model-schemas.ts";

/** The tenant's current schema. */
export async function readSchema(db: Database, tenant: number): Promise<SchemaRead | Refusal> {
  const { schemaVersion } = await readHead(db, tenant);
  const schema = await readStored(db, tenant, schemaVersion);
  return schema
    ? { object: "schema", version: schema.version, hash: schema.hash, models: schema.models }
    : refuse("schema_not_found");
}
