import { readHead } from "../db/heads.ts";
import { readSchema } from "../db/model-schemas.ts";
import type { Database } from "../db/pool.ts";
import type { LiveSchema, SchemaCache } from "./schema-cache.ts";

/** The world's models as pushed last, from the cache when its version is still the head's. */
export async function liveSchema(pool: Database, schemas: SchemaCache, world: number): Promise<LiveSchema> {
  const { schemaVersion } = await readHead(pool, world);
  return schemas.get(world, schemaVersion) ?? schemas.put(world, await readSchema(pool, world, schemaVersion));
}
