import { changesOf, type StoredSchema } from "../db/model-schemas.ts";
import type { DeclaredModel } from "../rules/declared-model.ts";
import { createSizedCache, type SizedCache } from "./sized-cache.ts";

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

/** Schemas of the worlds that this process works for. The version in the head says when one is out of date. */
export interface SchemaCache extends Pick<SizedCache<number, LiveSchema>, "hits" | "misses" | "bytes"> {
  get(world: number, version: number): LiveSchema | undefined;
  put(world: number, schema: StoredSchema | undefined): LiveSchema;
  forget(): void;
}

const NO_SCHEMA: LiveSchema = { version: 0, hash: "", models: new Map(), hiddenModels: [], rowsVersion: 0 };

/** Declared models take about so many times the memory that they have bytes as JSON. */
const BYTES_PER_JSON_BYTE = 6;
const USUAL_BYTES = 64 * 2 ** 20;

export function createSchemaCache(maxBytes = USUAL_BYTES): SchemaCache {
  const byWorld = createSizedCache<number, LiveSchema>(
    maxBytes,
    ({ models, hiddenModels }) =>
      1_000 + BYTES_PER_JSON_BYTE * JSON.stringify([[...models.values()], hiddenModels]).length,
  );
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
      byWorld.set(world, live);
      return live;
    },
    forget: byWorld.clear,
    get hits() {
      return byWorld.hits;
    },
    get misses() {
      return byWorld.misses;
    },
    get bytes() {
      return byWorld.bytes;
    },
  };
}
