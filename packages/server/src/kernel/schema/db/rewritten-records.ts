import type { JsonObject } from "@holdfast/sdk/protocol";
import type pg from "pg";
import type { RecordName } from "../../commits/db/records.ts";
import type { Database } from "../../connection/pool.ts";
import type { Statement } from "../../connection/statement.ts";
import { type Transaction, takeTime } from "../../connection/transaction.ts";
import type { FiledRow, RowChange } from "../rules/schema-change.ts";

/**
 * A schema push rewrites records concurrently with writers, in three phases:
 *
 *   prepare   in steps, without the head's lock: store each record's new form, with the position that it was read at
 *   land      under the head's lock: rewrite what was written since, save the schema, and set head.rewriting
 *   adopt     in steps, without the head's lock: move each new form into its row
 *
 * The forms are in the table rewritten_record, and are used once head.rewriting is set. A form is valid only while its
 * record is still at the position that the form was made from. So a write needs no cleanup, and forms left by a process
 * that died during the preparation have no effect.
 */
export const recordTable = (rewriting: boolean): string => (rewriting ? "holdfast.present_record" : "holdfast.record");

export interface StoredRecord extends FiledRow {
  readonly syncId: number;
}

/** Most bytes of the records of a step together. A single larger record still fits. */
const STEP_BYTES = 8 * 2 ** 20;

/** An upper bound: a compressed value may be a hundred times as large, and measuring it would mean decompressing it. */
const sizeOf = (column: string) =>
  `coalesce(pg_column_size(${column})::bigint * case when pg_column_compression(${column}) is null then 1 else 100 end, 0)`;

/** Some records of a model, ordered by id. */
export async function readRows(
  tx: Transaction,
  tenant: number,
  model: string,
  after: string,
  limit: number,
): Promise<StoredRecord[]> {
  await takeTime(tx);
  const { rows } = await tx.query<Row>(
    `select ${COLUMNS} from (
       select *, sum(bytes) over (order by id rows unbounded preceding) as bytes_through from (
         select ${COLUMNS}, ${sizeOf("data")} + ${sizeOf("hidden")} as bytes
         from holdfast.record where tenant = $1 and model = $2 and id > $3 order by id limit $4) sized) page
     where bytes_through <= $5 or bytes_through = bytes order by id`,
    [tenant, model, after, limit, STEP_BYTES],
  );
  return rows.map(toRecord);
}

/** Whether these models together have only few and small records. */
export async function areFew(
  tx: Transaction,
  tenant: number,
  models: readonly string[],
  { records, bytes }: { readonly records: number; readonly bytes: number },
): Promise<boolean> {
  const { rows } = await tx.query<{ few: boolean }>(
    `select count(*) <= $3 and coalesce(sum(${sizeOf("data")} + ${sizeOf("hidden")}), 0) <= $4::bigint as few
     from unnest($2::text[]) as k(model)
     cross join lateral (select data, hidden from holdfast.record r where r.tenant = $1 and r.model = k.model limit $3 + 1) r`,
    [tenant, models, records, bytes],
  );
  return rows[0]?.few === true;
}

/** The named records of a model that exist. */
export async function readNamedRows(
  tx: Transaction,
  tenant: number,
  model: string,
  ids: readonly string[],
): Promise<StoredRecord[]> {
  const { rows } = await tx.query<Row>(
    `select r.* from unnest($3::text[]) as k(id)
     cross join lateral (select ${COLUMNS} from holdfast.record r where r.tenant = $1 and r.model = $2 and r.id = k.id limit 1) r`,
    [tenant, model, ids],
  );
  return rows.map(toRecord);
}

interface Row {
  id: string;
  sync_id: number;
  data: string;
  hidden: string | null;
  groups: string[];
}

const COLUMNS = "id, sync_id, data, hidden, groups";

const toRecord = ({ id, sync_id, data, hidden, groups }: Row): StoredRecord => ({
  id,
  syncId: sync_id,
  data: JSON.parse(data) as JsonObject,
  hidden: hidden === null ? null : (JSON.parse(hidden) as JsonObject),
  groups,
});

export interface RewrittenRecord extends RowChange {
  readonly id: string;
  readonly syncId: number;
}

/** Stores the new forms of records beside their rows. */
export async function saveRewritten(
  tx: Transaction,
  tenant: number,
  model: string,
  records: readonly RewrittenRecord[],
): Promise<void> {
  if (records.length === 0) return;
  await tx.query(
    `insert into holdfast.rewritten_record as n (tenant, model, id, sync_id, data, hidden, groups)
     select $1, $2, k.id, k.sync_id, k.data::json, k.hidden::json, array(select json_array_elements_text(k.groups::json))
     from unnest($3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[]) as k(id, sync_id, data, hidden, groups)
     on conflict (tenant, model, id) do update
       set sync_id = excluded.sync_id, data = excluded.data, hidden = excluded.hidden, groups = excluded.groups`,
    [
      tenant,
      model,
      records.map(({ id }) => id),
      records.map(({ syncId }) => syncId),
      records.map(({ row }) => row && JSON.stringify(row.data)),
      records.map(({ row }) => row?.hidden && JSON.stringify(row.hidden)),
      records.map(({ groups }) => JSON.stringify(groups)),
    ],
  );
}

const ADOPTED = `data = coalesce(d.data, r.data), groups = d.groups, hidden = case when d.data is null then r.hidden else d.hidden end`;

/**
 * Moves the new forms of these records into their rows. A round calls it for the records that it names, before reading
 * them.
 */
export const adoptRecords = (names: readonly RecordName[]): Statement<void> => ({
  name: "",
  text: `with due as materialized (
    select n.* from unnest($1::int[], $2::text[], $3::text[]) as k(tenant, model, id)
    cross join lateral (select * from holdfast.rewritten_record n where n.tenant = k.tenant and n.model = k.model and n.id = k.id limit 1) n
  ), adopted as (
    update holdfast.record r set ${ADOPTED} from due d
    where r.tenant = d.tenant and r.model = d.model and r.id = d.id and r.sync_id = d.sync_id
  )
  delete from holdfast.rewritten_record n using due d where n.tenant = d.tenant and n.model = d.model and n.id = d.id`,
  values: [names.map(({ tenant }) => tenant), names.map(({ model }) => model), names.map(({ id }) => id)],
  read: () => {},
});

/** The end of a step over a tenant's rewritten records. */
export interface StepEnd {
  readonly model: string;
  readonly id: string;
}

/**
 * Runs the next step. Skips records that a round has locked until later, so that the two cannot deadlock. Undefined
 * after the last step.
 */
export async function adoptStep(
  tx: Transaction,
  tenant: number,
  after: StepEnd,
  limit: number,
): Promise<StepEnd | undefined> {
  await takeTime(tx);
  const { rows } = await tx.query<StepEnd & pg.QueryResultRow>(
    `with page as materialized (
       select * from (
         select *, sum(bytes) over (order by model, id rows unbounded preceding) as bytes_through from (
           select *, coalesce(pg_column_size(data), 0)::bigint as bytes
           from holdfast.rewritten_record where tenant = $1 and (model, id) > ($2, $3) order by model, id limit $4) sized) n
       where bytes_through <= $5 or bytes_through = bytes
     ), due as materialized (
       select n.* from page n cross join lateral (
         select from holdfast.record r where r.tenant = n.tenant and r.model = n.model and r.id = n.id and r.sync_id = n.sync_id
         limit 1 for update skip locked) r
     ), adopted as (
       update holdfast.record r set ${ADOPTED} from due d
       where r.tenant = d.tenant and r.model = d.model and r.id = d.id and r.sync_id = d.sync_id
     ), gone as (
       delete from holdfast.rewritten_record n using due d where n.tenant = d.tenant and n.model = d.model and n.id = d.id
     )
     select model, id from page order by model desc, id desc limit 1`,
    [tenant, after.model, after.id, limit, STEP_BYTES],
  );
  const last = rows[0];
  if (!last) return undefined;
  // Deletes forms that are invalid because their records were written or deleted meanwhile.
  await tx.query(
    `delete from holdfast.rewritten_record n where ctid = any(array(
       select n.ctid from holdfast.rewritten_record n
       where n.tenant = $1 and (n.model, n.id) > ($2, $3) and (n.model, n.id) <= ($4, $5) and not exists (
         select from holdfast.record r where r.tenant = n.tenant and r.model = n.model and r.id = n.id and r.sync_id = n.sync_id)
       for update skip locked))`,
    [tenant, after.model, after.id, last.model, last.id],
  );
  return last;
}

/** Deletes some forms that never became valid. Returns how many. */
export async function dropStep(tx: Transaction, tenant: number, limit: number): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from holdfast.rewritten_record where ctid = any(array(
       select ctid from holdfast.rewritten_record where tenant = $1 limit $2))`,
    [tenant, limit],
  );
  return rowCount ?? 0;
}

/** Makes the prepared forms valid. */
export async function beginRewriting(tx: Transaction, tenant: number): Promise<void> {
  await tx.query("update holdfast.head set rewriting = true where tenant = $1", [tenant]);
}

/** Returns false if some forms are still beside their rows. */
export async function endRewriting(tx: Transaction, tenant: number): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update holdfast.head set rewriting = false where tenant = $1 and not exists (
       select from holdfast.rewritten_record n where n.tenant = $1)`,
    [tenant],
  );
  return rowCount === 1;
}

/** Makes every group premise that was read before this position count as moved. */
export async function moveAllGroups(tx: Transaction, tenant: number): Promise<void> {
  await tx.query("update holdfast.head set regrouped_at = sync_id where tenant = $1", [tenant]);
}

/** Tenants with valid forms beside their rows. */
export async function readRewritingTenants(db: Transaction): Promise<number[]> {
  const { rows } = await db.query<{ tenant: number }>(
    `with recursive found as (
       (select tenant from holdfast.rewritten_record order by tenant limit 1)
       union all
       select n.tenant from found f cross join lateral (
         select tenant from holdfast.rewritten_record where tenant > f.tenant order by tenant limit 1) n)
     select tenant from found union select tenant from holdfast.head where rewriting`,
  );
  return rows.map(({ tenant }) => tenant);
}

/** The records of these models that entries in (after, to] changed, by model. */
export async function readWrittenSince(
  tx: Transaction,
  tenant: number,
  models: readonly string[],
  after: number,
  to: number,
): Promise<Map<string, string[]>> {
  const { rows } = await tx.query<{ model: string; id: string }>(
    `select distinct model, id from holdfast.log where tenant = $1 and sync_id > $2 and sync_id <= $3 and model = any($4)`,
    [tenant, after, to, models],
  );
  const byModel = new Map<string, string[]>();
  for (const { model, id } of rows) byModel.set(model, [...(byModel.get(model) ?? []), id]);
  return byModel;
}

/** Bytes of the records of these models that entries after a position changed. */
export async function bytesWrittenSince(
  tx: Transaction,
  tenant: number,
  models: readonly string[],
  after: number,
): Promise<number> {
  const { rows } = await tx.query<{ bytes: string }>(
    `select coalesce(sum(r.bytes), 0) as bytes
     from (select distinct model, id from holdfast.log where tenant = $1 and sync_id > $2 and model = any($3)) l
     cross join lateral (
       select ${sizeOf("data")} + ${sizeOf("hidden")} as bytes from holdfast.record r
       where r.tenant = $1 and r.model = l.model and r.id = l.id limit 1) r`,
    [tenant, after, models],
  );
  return Number(rows[0]?.bytes);
}

/** Whether any record of a model has values that its schema hides. */
export async function hasHiddenValues(tx: Transaction, tenant: number, model: string): Promise<boolean> {
  const { rows } = await tx.query(
    "select 1 from holdfast.record where tenant = $1 and model = $2 and hidden is not null limit 1",
    [tenant, model],
  );
  return rows.length > 0;
}

const LOCK = 4_270_005;

/** Takes the tenant's rewriting lock for this transaction, if it is free. */
export async function claimRewritingHere(tx: Transaction, tenant: number): Promise<boolean> {
  const { rows } = await tx.query<{ mine: boolean }>("select pg_try_advisory_xact_lock($1, $2) as mine", [
    LOCK,
    tenant,
  ]);
  return rows[0]?.mine === true;
}

/** Runs work on a connection that holds the tenant's rewriting lock. Undefined if another one holds it. */
export async function whileRewriting<T>(
  pool: Database,
  tenant: number,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T | undefined> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    // A try-lock: a concurrent index build waits for all running statements, including one that waits for a lock.
    const { rows } = await client.query<{ mine: boolean }>("select pg_try_advisory_lock($1, $2) as mine", [
      LOCK,
      tenant,
    ]);
    if (rows[0]?.mine !== true) return undefined;
    try {
      return await work(client);
    } finally {
      // If the unlock failed, do not return the connection to the pool: it still holds the lock.
      await client.query("select pg_advisory_unlock($1, $2)", [LOCK, tenant]).catch((error: Error) => {
        broken = error;
      });
    }
  } finally {
    client.release(broken);
  }
}
