import { readHead } from "../../commits/db/heads.ts";
import type { Transaction } from "../../connection/transaction.ts";
import { readSchema } from "../db/model-schemas.ts";
import type { LiveSchema, SchemaCache } from "./schema-cache.ts";

/** The tenant's current models, from the cache if its version is still current. */
export async function liveSchema(db: Transaction, schemas: SchemaCache, tenant: number): Promise<LiveSchema> {
  const { schemaVersion } = await readHead(db, tenant);
  return schemaAt(db, schemas, tenant, schemaVersion);
}

/** The models of a given version, such as the one in a head. */
export const schemaAt = async (
  db: Transaction,
  schemas: SchemaCache,
  tenant: number,
  version: number,
): Promise<LiveSchema> => schemas.get(tenant, version) ?? schemas.put(tenant, await readSchema(db, tenant, version));
