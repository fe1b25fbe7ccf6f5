import { type CacheUse, createSizedCache } from "../../sized-cache.ts";
import { changesOf, type StoredSchema } from "../db/model-schemas.ts";
import type { DeclaredModel } from "../rules/declared-model.ts";
import { type DeclaredValues, declaredValues } from "../rules/declared-values.ts";

/** A tenant's models by lower-case name. */
export interface LiveSchema {
  readonly version: number;
  readonly hash: string;
  readonly models: ReadonlyMap<string, DeclaredModel>;
  /** The unique fields and the checked references. */
  readonly values: DeclaredValues;
  /** Models that a forced push removed: their records are hidden from everyone. */
  readonly hiddenModels: readonly string[];
  /** By lower-case name: the models whose tables cannot be read. Snapshots leave them out. */
  readonly unreadable: readonly string[];
  /** The version that last changed rows without a log entry. */
  readonly rowsVersion: number;
  /** Fields of some models had other names once. */
  readonly hasRenames: boolean;
}

/** The schemas of this process's tenants. The version in the head shows whether a cached one is current. */
export interface SchemaCache {
  readonly use: CacheUse;
  get(tenant: number, version: number): LiveSchema | undefined;
  /** The last one that was used, which may have been superseded. */
  latest(tenant: number): LiveSchema | undefined;
  put(tenant: number, schema: StoredSchema | undefined): LiveSchema;
  forget(): void;
}

/** Of a tenant that has pushed none. */
export const NO_SCHEMA: LiveSchema = {
  version: 0,
  hash: "",
  models: new Map(),
  values: declaredValues([]),
  hiddenModels: [],
  unreadable: [],
  rowsVersion: 0,
  hasRenames: false,
};

/** Approximate ratio of the memory of declared models to the bytes of their JSON. */
const BYTES_PER_JSON_BYTE = 6;
const USUAL_BYTES = 64 * 2 ** 20;

export function createSchemaCache(maxBytes = USUAL_BYTES): SchemaCache {
  const byTenant = createSizedCache<number, LiveSchema>(
    maxBytes,
    ({ models, hiddenModels }) =>
      1_000 + BYTES_PER_JSON_BYTE * JSON.stringify([[...models.values()], hiddenModels]).length,
  );
  return {
    get: (tenant, version) => {
      if (version === 0) return NO_SCHEMA;
      const cached = byTenant.get(tenant);
      return cached?.version === version ? cached : undefined;
    },
    latest: byTenant.peek,
    put: (tenant, schema) => {
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
        values: declaredValues(Object.entries(schema.models)),
        hiddenModels: schema.hiddenModels,
        unreadable: schema.unreadable,
        rowsVersion: schema.rowsVersion,
        hasRenames: Object.keys(schema.models).some((name) =>
          changesOf(schema, name.toLowerCase()).some(({ renames }) => Object.keys(renames).length > 0),
        ),
      };
      byTenant.set(tenant, live);
      return live;
    },
    forget: byTenant.clear,
    use: byTenant,
  };
}
