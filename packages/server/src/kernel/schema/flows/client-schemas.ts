import { limits, type ModelSchema } from "@holdfast/sdk/protocol";
import type { Database } from "../../connection/pool.ts";
import { type Refusal, refuse } from "../../refusal.ts";
import { createSizedCache } from "../../sized-cache.ts";
import { changesOf, readOlderSchemas } from "../db/model-schemas.ts";
import {
  type ClientNames,
  clientNames,
  type OlderModels,
  olderModels,
  type PastSchema,
  rowsVersionIn,
  type SaidSchema,
} from "../rules/client-names.ts";
import { liveSchema } from "./live-schema.ts";
import type { LiveSchema, SchemaCache } from "./schema-cache.ts";

/** How a client spells fields under the schema of a version. */
export interface SpokenSchema {
  /** Of the current schema. */
  readonly version: number;
  readonly rowsVersion: number;
  /** What the client is told. */
  readonly shownRowsVersion: number;
  /** Undefined: it spells them as this schema does. */
  readonly names: ClientNames | undefined;
}

/** What clients with older schemas call the fields of today. */
export interface ClientSchemas {
  /** Returns a promise only if earlier schemas have to be read. */
  under(tenant: number, schema: LiveSchema, said: SaidSchema): SpokenSchema | Refusal | Promise<SpokenSchema | Refusal>;
  /** Under the schema that was last used here. It may have been superseded in another process. */
  spoken(tenant: number, said: SaidSchema): SpokenSchema | Refusal | Promise<SpokenSchema | Refusal>;
  /** Under the current schema. */
  spokenNow(tenant: number, said: SaidSchema): Promise<SpokenSchema | Refusal>;
  /** Whether it is still the schema that was last used here. */
  isLatest(tenant: number, spoken: SpokenSchema): boolean;
  forget(): void;
}

interface Known {
  readonly version: number;
  readonly models: OlderModels;
}

const BYTES = 16 * 2 ** 20;
/** Schemas can be large, so they are read a few at a time. */
const PAGE = 10;

/**
 * Tenants that have never renamed a field cost nothing. For others the earlier schemas are read once after a push, when the
 * first client says which one it has.
 */
export function createClientSchemas(db: Database, schemas: SchemaCache, now: () => number): ClientSchemas {
  const byTenant = createSizedCache<number, Known>(BYTES, ({ models: { byVersion } }) =>
    [...byVersion.values()]
      .flat()
      .reduce((sum, { names }) => sum + 500 + 100 * (names.toNew.size + names.toOld.size), 1_000),
  );
  const reading = new Map<string, Promise<OlderModels>>();

  const under: ClientSchemas["under"] = (tenant, schema, said) => {
    if (!schema.hasRenames) return asItIs(schema);
    const known = byTenant.get(tenant);
    const answer = (models: OlderModels) => spokenBy(models, schema, said, now());
    return known?.version === schema.version ? answer(known.models) : readOnce(tenant, schema).then(answer);
  };

  function readOnce(tenant: number, schema: LiveSchema): Promise<OlderModels> {
    const key = `${tenant}:${schema.version}`;
    const asked =
      reading.get(key) ??
      readPast(tenant, schema)
        .then((models) => {
          byTenant.set(tenant, { version: schema.version, models });
          return models;
        })
        .finally(() => reading.delete(key));
    reading.set(key, asked);
    return asked;
  }

  async function readPast(tenant: number, { version, models }: LiveSchema): Promise<OlderModels> {
    const past: PastSchema[] = [];
    for (let before = version; past.length < limits.olderSchemas; ) {
      const page = await readOlderSchemas(db, tenant, before, PAGE);
      for (const { version, models, changes, supersededAt } of page)
        past.push({ version, models: spelled(models), changes: (key) => changesOf({ changes }, key), supersededAt });
      const last = page.at(-1);
      if (!last || page.length < PAGE) break;
      before = last.version;
    }
    return olderModels(past, models);
  }

  const spokenNow: ClientSchemas["spokenNow"] = async (tenant, said) =>
    await under(tenant, await liveSchema(db, schemas, tenant), said);

  return {
    under,
    spoken(tenant, said) {
      const schema = schemas.latest(tenant);
      return schema ? under(tenant, schema, said) : spokenNow(tenant, said);
    },
    spokenNow,
    isLatest: (tenant, { version }) => (schemas.latest(tenant)?.version ?? 0) === version,
    forget() {
      byTenant.clear();
      reading.clear();
    },
  };
}

/** For clients that spell fields as the schema does. */
export const asItIs = ({ version, rowsVersion }: LiveSchema): SpokenSchema => ({
  version,
  rowsVersion,
  shownRowsVersion: rowsVersion,
  names: undefined,
});

/** Without everything else that a schema says, which may be much. */
const spelled = (models: ModelSchema["models"]): PastSchema["models"] =>
  Object.fromEntries(
    Object.entries(models).map(([name, { fields }]) => [
      name,
      { fields: Object.fromEntries(Object.entries(fields).map(([field, { type }]) => [field, { type }])) },
    ]),
  );

function spokenBy(
  models: OlderModels,
  { version, rowsVersion }: LiveSchema,
  said: SaidSchema,
  now: number,
): SpokenSchema | Refusal {
  const names = clientNames(models, said);
  if (names && now - names.olderSince > limits.olderSchemaMs) return refuse("schema_too_old");
  return { version, rowsVersion, shownRowsVersion: names ? rowsVersionIn(names, rowsVersion) : rowsVersion, names };
}
