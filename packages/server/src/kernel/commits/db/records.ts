import type { JsonObject } from "@holdfast/sdk/protocol";
import { cutDeep } from "../../connection/cut-deep.ts";
import { reading } from "../../connection/reading-table.ts";
import type { Statement } from "../../connection/statement.ts";
import type { Transaction } from "../../connection/transaction.ts";
import type { RecordRelation } from "../../lists/db/record-relation.ts";
import type { RecordState } from "../rules/tenant-state.ts";
import { unreadableBytes } from "./unreadable-data.ts";

export interface RecordName {
  readonly tenant: number;
  readonly model: string;
  readonly id: string;
}

/** A record as a round loads it. */
export type FoundRecord = RecordState & RecordName;

interface RecordRow {
  tenant: number;
  model: string;
  id: string;
  sync_id: number;
  data: string;
  groups: string[];
  archived_at: string | null;
  created_sync_id: number;
  created_by: string;
  created_at: string;
  updated_at: string;
  updated_by: string;
}

const NAMES = `tenant model id sync_id data groups archived_at created_sync_id created_by created_at updated_at
  updated_by`.split(/\s+/);
/** All columns of `holdfast.record` but what a schema change has hidden. */
export const RECORD_COLUMNS = NAMES.join(", ");

/**
 * Rows by name. `limit 1` in the lateral query makes each name one probe of the primary key, whatever the statistics
 * say.
 */
export const loadRecords = (names: readonly RecordName[]): Statement<FoundRecord[]> => ({
  name: "load_records",
  text: `select r.* from unnest($1::int[], $2::text[], $3::text[]) as k(tenant, model, id)
    cross join lateral (select ${RECORD_COLUMNS} from holdfast.record r
      where r.tenant = k.tenant and r.model = k.model and r.id = k.id limit 1) r`,
  values: [names.map(({ tenant }) => tenant), names.map(({ model }) => model), names.map(({ id }) => id)],
  read: readSmall,
});

/** A name, and whether the record's values are needed. */
export interface RequestedRecord extends RecordName {
  readonly values: boolean;
}

/**
 * Like `loadRecords`, but returns values only where they are needed and small: a round may name thousands of records of
 * a megabyte. Postgres would have to decompress a value to measure it, so only values that are small as stored are
 * measured.
 */
export const loadSmallRecords = (names: readonly RequestedRecord[]): Statement<FoundRecord[]> => ({
  name: "load_small_records",
  text: `select r.* from unnest($1::int[], $2::text[], $3::text[], $4::boolean[]) as k(tenant, model, id, with_values)
    cross join lateral (select ${RECORD_COLUMNS.replace(
      " data,",
      ` case when k.with_values and pg_column_size(data) <= 8192
        and (pg_column_compression(data) is null or octet_length(data::text) <= 16384) then data end as data,`,
    )} from holdfast.record r
      where r.tenant = k.tenant and r.model = k.model and r.id = k.id limit 1) r`,
  values: [
    names.map(({ tenant }) => tenant),
    names.map(({ model }) => model),
    names.map(({ id }) => id),
    names.map(({ values }) => values),
  ],
  read: readSmall,
});

/** Without values: they are large, unreadable or not needed, or the caller's table has them. */
const readSmall = (rows: readonly unknown[]): FoundRecord[] =>
  (rows as (Omit<RecordRow, "data"> & { data: string | null })[]).map((row) => {
    if (row.data === null) return withoutValues(row);
    const unreadable = unreadableBytes(row.data);
    return unreadable === undefined ? toRecord(row, row.data) : withoutValues(row, unreadable);
  });

/** In a table of the caller's, JSON may be of any depth. */
const cutValues = <Row>(row: Row): Row => {
  const { data } = row as { data?: string | null };
  return data ? { ...row, data: cutDeep(data) } : row;
};

const toRecord = (row: Omit<RecordRow, "data">, text: string): FoundRecord => ({
  ...placed(row),
  data: JSON.parse(text) as JsonObject,
  bytes: text.length,
});

const withoutValues = (row: Omit<RecordRow, "data">, unreadable?: number): FoundRecord => ({
  ...placed(row),
  get data(): never {
    throw new Error("The values of this record were not read.");
  },
  bytes: "not read",
  ...(unreadable !== undefined && { unreadable }),
});

/** The record with these values, whether or not its own were read. */
export function withValues(record: FoundRecord, data: JsonObject): FoundRecord {
  const { data: _, bytes: __, unreadable: ___, ...rest } = Object.getOwnPropertyDescriptors(record);
  return Object.defineProperties({}, { ...rest, data: { value: data, enumerable: true } }) as FoundRecord;
}

const placed = (row: Omit<RecordRow, "data">) => ({
  tenant: row.tenant,
  model: row.model,
  id: row.id,
  syncId: row.sync_id,
  groups: row.groups,
  archivedAt: row.archived_at,
  createdSyncId: row.created_sync_id,
  createdBy: row.created_by,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  updatedBy: row.updated_by,
});

/** The same of records in one relation, which are read by their keys. Undefined: it is locked, or cannot be read now. */
export function loadRelationRecords(
  relation: RecordRelation,
  names: readonly RequestedRecord[],
  most: "small" | "any",
): Statement<FoundRecord[] | undefined> {
  const { from, idOrder, takesId } = relation;
  const data =
    most === "any"
      ? "r.data"
      : "case when k.with_values and octet_length(r.data::text) <= 16384 then r.data end as data";
  const query = `select ${NAMES.map((name) => (name === "data" ? data : `r.${name}`)).join(", ")}
    from unnest($1::text[], $2::boolean[]) as k(id, with_values)
    join ${from} r on r.${idOrder.expression} = k.id::${idOrder.type} and r.id = k.id`;
  const known = names.filter(({ id }) => takesId(id));
  return {
    name: "load_relation_records",
    text: `select ${RECORD_COLUMNS} from holdfast.rows_of($1, $2, $3)`,
    values: [query, known.map(({ id }) => id), known.map(({ values }) => values)],
    read: (rows) =>
      (rows as { id: string | null }[]).some(({ id }) => id === null) ? undefined : readSmall(rows.map(cutValues)),
  };
}

/**
 * Deletes rows by the `ctid` that the same kind of probe finds. The statement has no name, so that Postgres plans it
 * each time: a plan from the time when the table was small would scan all of it.
 */
export const deleteRecords = (names: readonly RecordName[]): Statement<void> => ({
  name: "",
  text: `delete from holdfast.record where ctid = any(array(
    select r.ctid from unnest($1::int[], $2::text[], $3::text[]) as k(tenant, model, id)
    cross join lateral (select ctid from holdfast.record r where r.tenant = k.tenant and r.model = k.model and r.id = k.id limit 1) r))`,
  values: [names.map(({ tenant }) => tenant), names.map(({ model }) => model), names.map(({ id }) => id)],
  read: () => {},
});

/** `relation`: where the record is, if Holdfast does not keep it itself. */
export async function readRecord(
  db: Transaction,
  name: RecordName,
  relation?: RecordRelation,
): Promise<RecordState | UnreadableState | undefined> {
  if (relation && !relation.takesId(name.id)) return undefined;
  const { rows } = relation
    ? await reading(relation, () =>
        db.query<RecordRow>(
          `select ${RECORD_COLUMNS} from ${relation.from} r where ${relation.idOrder.expression} = $1::text::${relation.idOrder.type} and id = $1::text limit 1`,
          [name.id],
        ),
      )
    : await db.query<RecordRow>({
        name: "read_record",
        text: `select ${RECORD_COLUMNS} from holdfast.present_record where tenant = $1 and model = $2 and id = $3 limit 1`,
        values: [name.tenant, name.model, name.id],
      });
  const [row] = relation ? rows.map(cutValues) : rows;
  const unreadable = row && unreadableBytes(row.data);
  if (row === undefined || unreadable === undefined) return row && toRecord(row, row.data);
  return { groups: row.groups, unreadable };
}

/** A record that is larger than can be read. */
export type UnreadableState = Required<Pick<RecordState, "groups" | "unreadable">>;

/** The groups of some records in a relation, by id. */
export async function readGroups(
  db: Transaction,
  relation: RecordRelation,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { from, idOrder, takesId } = relation;
  const { rows } = await reading(relation, () =>
    db.query<{ id: string; groups: string[] }>(
      `select id, groups from ${from} r where ${idOrder.expression} = any($1::text[]::${idOrder.type}[]) and id = any($1::text[])`,
      [ids.filter(takesId)],
    ),
  );
  return new Map(rows.map(({ id, groups }) => [id, groups]));
}

/** The groups of those that Holdfast keeps. */
export async function readHostedGroups(
  db: Transaction,
  tenant: number,
  names: readonly Omit<RecordName, "tenant">[],
): Promise<readonly { readonly model: string; readonly id: string; readonly groups: readonly string[] }[]> {
  const { rows } = await db.query<{ model: string; id: string; groups: string[] }>(
    `select r.model, r.id, r.groups from unnest($2::text[], $3::text[]) as k(model, id)
     join holdfast.present_record r on r.tenant = $1 and r.model = k.model and r.id = k.id`,
    [tenant, names.map(({ model }) => model), names.map(({ id }) => id)],
  );
  return rows;
}

/** Whether a tenant has a record of a model: needed when a schema change may hide or invalidate data. */
export async function hasRecords(
  db: Transaction,
  tenant: number,
  model: string,
  relation?: RecordRelation,
): Promise<boolean> {
  const { rows } = relation
    ? await reading(relation, () => db.query(`select from ${relation.from} r limit 1`))
    : await db.query("select 1 from holdfast.record where tenant = $1 and model = $2 limit 1", [tenant, model]);
  return rows.length > 0;
}

/** Records by id, with their data as JSON. */
export async function readRecordTexts(
  db: Transaction,
  tenant: number,
  model: string,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly data: string }[]> {
  const { rows } = await db.query<{ id: string; data: string }>(
    "select id, data from holdfast.record where tenant = $1 and model = $2 and id = any($3)",
    [tenant, model, ids],
  );
  return rows;
}

/** Ids of a model's records, in order. */
export async function readRecordIds(
  db: Transaction,
  tenant: number,
  model: string,
  after: string,
  most: number,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    "select id from holdfast.record where tenant = $1 and model = $2 and id > $3 order by id limit $4",
    [tenant, model, after, most],
  );
  return rows.map(({ id }) => id);
}
