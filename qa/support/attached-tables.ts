import { type Field, type FieldType, isFilledByServer, type Model, type ModelSchema } from "@holdfast/sdk/protocol";
import type pg from "pg";
import { createPool, type Database } from "../../packages/server/src/kernel/connection/pool.ts";
import type { Transaction } from "../../packages/server/src/kernel/connection/transaction.ts";
import { attachTable } from "../../packages/server/src/modules/tables/flows/attach-table.ts";
import { tablePlaces } from "../../packages/server/src/modules/tables/flows/table-places.ts";
import { verifyTable } from "../../packages/server/src/modules/tables/flows/verify-table.ts";
import { archivedColumn } from "../../packages/server/src/modules/tables/rules/archived-column.ts";
import { columnOf } from "../../packages/server/src/modules/tables/rules/column-of.ts";
import { NO_FOLLOWERS } from "../../packages/server/src/testing/no-followers.ts";
import { referenceSchema } from "../../packages/server/src/testing/reference-schema.ts";

const TYPES: Readonly<Record<FieldType, string>> = {
  string: "text",
  number: "double precision",
  integer: "bigint",
  boolean: "boolean",
  datetime: "timestamptz",
  enum: "text",
  json: "json",
  array: "json",
};

/** No model has a field of this column. */
const GONE_SINCE = "gone_since";

/** Attaches a table for each model of the reference schema, for the live tenant of an organization or of the only one. */
export async function attachReference(databaseUrl: string, organization?: string): Promise<void> {
  await attachModels(databaseUrl, { organization, livemode: true }, referenceSchema);
}

/** A record as it is read, wherever its values are. */
export interface ReadRecord {
  readonly model: string;
  readonly id: string;
  readonly at: string;
  readonly data: unknown;
}

/** All records of a tenant, as the server reads them. `values`: the SQL of what is read of each record `r`. */
export async function readRecords<R extends ReadRecord = ReadRecord>(
  db: Transaction,
  tenant: number,
  values = "r.data",
): Promise<readonly R[]> {
  const sources = await tablePlaces.of(db, tenant);
  const read = `select r.model, r.id, r.sync_id as at, ${values} from`;
  const kept = await db.query<R & pg.QueryResultRow>(
    `${read} holdfast.record r where r.tenant = $1 and r.model <> all($2)`,
    [tenant, [...sources.keys()]],
  );
  const all = [...kept.rows];
  for (const { from } of sources.values())
    all.push(...(await db.query<R & pg.QueryResultRow>(`${read} ${from} r`)).rows);
  return all;
}

/** The models whose rows are not what the log says, with the differences as `holdfast tables verify` counts them. */
export async function differingModels(databaseUrl: string): Promise<string[]> {
  const pool = createPool({ url: databaseUrl });
  try {
    const { rows } = await pool.query<{ tenant: number; model: string }>(
      "select tenant, model from holdfast.attached_table order by 1, 2",
    );
    const differing: string[] = [];
    for (const { tenant, model } of rows) {
      const { different, extra } = await verifyTable(pool, tenant, model);
      if (different + extra > 0)
        differing.push(`${model}: ${different} rows with other values, ${extra} without a row`);
    }
    return differing;
  } finally {
    await pool.end();
  }
}

/** Creates a table for each model of a tenant, and attaches it. */
export async function attachModels(
  databaseUrl: string,
  { organization, livemode }: { organization: string | undefined; livemode: boolean },
  { models }: ModelSchema,
  options: AttachedModels = {},
): Promise<void> {
  const pool = createPool({ url: databaseUrl });
  const { rows } = await pool.query<{ id: number }>(
    "select id from holdfast.tenant where organization = coalesce($1, organization) and livemode = $2",
    [organization ?? null, livemode],
  );
  const tenant = rows[0]?.id ?? 0;
  await pool.query(`create schema tables_of_${tenant}`);
  for (const [name, model] of Object.entries(models)) await attachModel(pool, tenant, name, model, options);
  await pool.end();
}

export interface AttachedModels {
  /** A column of each table says whether its record is archived. */
  readonly archived?: boolean;
}

async function attachModel(
  pool: Database,
  tenant: number,
  modelName: string,
  model: Model,
  { archived = false }: AttachedModels,
): Promise<void> {
  const name = `tables_of_${tenant}.${modelName}`;
  const table = { name, key: "id", ...(archived && { archived: GONE_SINCE }) };
  const fields = Object.entries(model.fields).filter(([field]) => field !== "id");
  const columns = fields.map(([field, { type }]) => ({
    ...{ field, name: columnOf(table, field), declared: type },
  }));
  const declared = fields.map(([field, one]) => {
    const { type, default: value } = one;
    const standard = value === undefined || isFilledByServer(one) ? "" : ` default '${value}'`;
    return `"${columnOf(table, field)}" ${TYPES[type]}${standard}`;
  });
  await pool.query(
    `create table ${name} (${["id text primary key", ...declared, ...(archived ? [`${GONE_SINCE} timestamptz`] : [])].join(", ")})`,
  );
  const { rows } = await pool.query<{ relation: number }>("select $1::regclass::oid::int as relation", [name]);
  await attachTable(pool, NO_FOLLOWERS, {
    ...{ tenant, relation: rows[0]?.relation ?? 0, name, modelName, keyColumn: "id" },
    columns: archived ? [...columns, archivedColumn(GONE_SINCE)] : columns,
    model: {
      ...model,
      table,
      // A column without "not null" can be null, so its field can be.
      fields: Object.fromEntries(
        fields.map(([field, one]): [string, Field] => [field, one.required ? one : { ...one, nullable: true }]),
      ),
    },
  });
}
