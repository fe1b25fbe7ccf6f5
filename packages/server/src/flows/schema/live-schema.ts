import { readHead } from "../../db/commits/heads.ts";
import type { Transaction } from "../../db/connection/transaction.ts";
import { readSchema } from "../../db/schema/model-schemas.ts";
import type { LiveSchema, SchemaCache } from "./schema-cache.ts";

/** The tenant's models as pushed last, from the cache when its version is still the head's. */
export async function liveSchema(db: Transaction, schemas: SchemaCache, tenant: number): Promise<LiveSchema> {
  const { schemaVersion } = await readHead(db, tenant);
  return schemaAt(db, schemas, tenant, schemaVersion);
}

/** The models of a version: that of a head, for what was written up to it. */
export const schemaAt = async (
  db: Transaction,
  schemas: SchemaCache,
  tenant: number,
  version: number,
): Promise<LiveSchema> => schemas.get(tenant, version) ?? schemas.put(tenant, await readSchema(db, tenant, version));
