import { changesOf, type StoredSchema } from "../db/model-schemas.ts";
import type { DeclaredModel } from "../rules/declared-model.ts";

/** A world's models as pushed, ready to be looked up by lower-case name. */
export interface LiveSchema {
  readonly version: number;
  readonly hash: string;
  readonly models: ReadonlyMap<string, DeclaredModel>;
  /** Models that a forced push took away: nobody sees their records. */
  readonly hiddenModels: readonly string[];
  /** The version that last changed rows without an entry in the log. */
  readonly rowsVersion: number;
}

/** The newest schema of each world that this process has met. The version in the head says when it is out of date. */
export interface SchemaCache {
  get(world: number, version: number): LiveSchema | undefined;
  put(world: number, schema: StoredSchema | undefined): LiveSchema;
}

const MOST_WORLDS = 1_000;
const NO_SCHEMA: LiveSchema = { version: 0, hash: "", models: new Map(), hiddenModels: [], rowsVersion: 0 };

export function createSchemaCache(): SchemaCache {
  const byWorld = new Map<number, LiveSchema>();
  return {
    get: (world, version) => {
      if (version === 0) return NO_SCHEMA;
      const cached = byWorld.get(world);
      return cached?.version === version ? cached : undefined;
    },
    put: (world, schema) => {
      if (!schema) return NO_SCHEMA;
      const live: LiveSchema = {
        version: schema.version,
        hash: schema.hash,
        models: new Map(
          Object.entries(schema.models).map(([name, model]) => [
            name.toLowerCase(),
            { name, model, changes: changesOf(schema, name.toLowerCase()) },
          ]),
        ),
        hiddenModels: schema.hiddenModels,
        rowsVersion: schema.rowsVersion,
      };
      const oldest = byWorld.keys().next();
      if (byWorld.size >= MOST_WORLDS && !oldest.done) byWorld.delete(oldest.value);
      byWorld.delete(world);
      byWorld.set(world, live);
      return live;
    },
  };
}
