import { TenantElsewhere } from "../../../kernel/commits/db/tenant-elsewhere.ts";
import type { Connection } from "../../../kernel/connection/connection.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { Extent } from "../rules/next-step.ts";

/** Small tables, which move as a whole in the last step. */
const LAST = [
  "claim",
  "webhook_endpoint",
  "webhook_attempt",
  "ended_token",
  "source",
  "intent",
  "reservation",
  "spent_budget",
  "proposal",
  "proposed_record",
] as const;

/**
 * The tables of a tenant in the order in which they move. `tenant` is a column of each. Usage stays: it belongs to the
 * organization. Attached tables cannot move: they are the caller's own.
 */
export const MOVED = ["model_schema", "log", "record", "record_value", "group_head", "receipt", ...LAST] as const;
export type MovedTable = (typeof MOVED)[number];

const isLast = (table: MovedTable): boolean => (LAST as readonly MovedTable[]).includes(table);

/** How far a log goes, and thereby a copy of it. */
export interface CopiedTo extends Extent {
  /** The newest entry's time, ISO. Receipts from a while before it are copied again. */
  readonly lastAt: string;
}

/** With `for update`, the log stands still from then on. */
export async function readExtent(db: Transaction, tenant: number, lock: "" | "for update" = ""): Promise<CopiedTo> {
  const { rows } = await db.query<CopiedTo & Record<string, unknown>>(
    `select sync_id as "syncId", last_at as "lastAt", schema_version as "schemaVersion", erased_to as "erasedTo", trimmed_to as "trimmedTo", rewriting
     from holdfast.head where tenant = $1 ${lock}`,
    [tenant],
  );
  if (!rows[0]) throw new TenantElsewhere(tenant);
  return rows[0];
}

/** Where rows go from and to. Both connections have no timeouts. */
export interface Route {
  readonly tenant: number;
  readonly from: Connection;
  readonly to: Connection;
}

/** Everything but the small tables, as the source's transaction sees it. */
export async function copyAll(route: Route): Promise<void> {
  for (const table of MOVED) if (!isLast(table)) await copyRows(route, table);
}

/** What changed since a copy, as the source's transaction sees it. */
export async function copyChanged(route: Route, { syncId, lastAt }: CopiedTo): Promise<void> {
  const tail = `select l.* from holdfast.log l where l.tenant = ${route.tenant} and l.sync_id > ${syncId}`;
  // The log comes first: the target finds in it what else has changed.
  await copyRows(route, "log", `x.sync_id > ${syncId}`);
  for (const table of ["record", "record_value"] as const)
    await replaceRows(route, table, `(x.model, x.id) in (select t.model, t.id from (${tail}) t)`);
  await replaceRows(
    route,
    "group_head",
    `x.name in (select unnest(t.groups || coalesce(t.groups_before, '{}')) from (${tail}) t)`,
  );
  await replaceRows(route, "receipt", `x.created_at >= timestamptz '${lastAt}' - interval '1 minute'`);
}

/** The small tables, which have to stand still. */
export async function copyLast(route: Route): Promise<void> {
  for (const table of LAST) await replaceRows(route, table);
}

/** Takes over how the target has these rows, also that some are gone. */
async function replaceRows(route: Route, table: MovedTable, which = "true"): Promise<void> {
  await route.to.query(`delete from holdfast.${table} x where x.tenant = $1 and (${which})`, [route.tenant]);
  await copyRows(route, table, which);
}

/** Bytes per statement: what a database sends at a time is bounded (answer-bound.ts). */
const BATCH_BYTES = 4 * 1024 * 1024;

/** As JSON text, like a dump. The next rows are read while these are written. */
async function copyRows({ tenant, from, to }: Route, table: MovedTable, which = "true"): Promise<void> {
  const columns = await columnsOf(to, table);
  // A cursor's conditions are part of its text: the tenant is a number, and the rest is ours.
  await from.query(
    `declare moved no scroll cursor for select row_to_json(x)::text as row from holdfast.${table} x where x.tenant = ${tenant} and (${which})`,
  );
  const fetch = async () =>
    (await from.query<{ row: string }>("select holdfast.fetch_some('moved', $1) as row", [BATCH_BYTES])).rows.map(
      ({ row }) => row,
    );
  for (let rows = await fetch(); rows.length > 0; ) {
    const [next] = await Promise.all([
      fetch(),
      to.query(
        `insert into holdfast.${table} (${columns}) select ${columns.map((name) => `r.${name}`)} from unnest($1::text[]) with ordinality as t(row, n)
         cross join lateral json_populate_record(null::holdfast.${table}, t.row::json) r order by t.n`,
        [rows],
      ),
    ]);
    rows = next;
  }
  await from.query("close moved");
}

/** Those that can be written, as they are spelled in SQL. */
async function columnsOf(db: Transaction, table: MovedTable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [`holdfast.${table}`],
  );
  return rows.map(({ name }) => name);
}

/** Locks the tenant's webhook endpoints, whose deliveries save their state without the head. */
export async function lockEndpoints(tx: Transaction, tenant: number): Promise<void> {
  await tx.query("select from holdfast.webhook_endpoint where tenant = $1 order by id for update", [tenant]);
}

/**
 * The tenant itself, in the database that it moves to. If the service's own database was restored, the number may have
 * been another tenant's there.
 */
export async function prepareTenant(
  tx: Transaction,
  { tenant, organization, livemode }: { tenant: number; organization: string; livemode: boolean },
): Promise<void> {
  await tx.query("insert into holdfast.organization (id, name) values ($1, $1) on conflict do nothing", [organization]);
  await tx.query(
    `insert into holdfast.tenant (id, organization, livemode) overriding system value values ($1, $2, $3)
     on conflict (id) do update set organization = excluded.organization, livemode = excluded.livemode`,
    [tenant, organization, livemode],
  );
}

/** Where the head of a tenant is. */
export interface HeadPlaces {
  readonly head: boolean;
  readonly arrival: boolean;
}

export async function readPlaces(db: Transaction, tenant: number): Promise<HeadPlaces> {
  const { rows } = await db.query<HeadPlaces & Record<string, unknown>>(
    `select exists (select from holdfast.head where tenant = $1) as head,
       exists (select from holdfast.arrival where tenant = $1) as arrival`,
    [tenant],
  );
  return rows[0] as HeadPlaces;
}

export async function readHeadRow(tx: Transaction, tenant: number): Promise<string> {
  const { rows } = await tx.query<{ head: string }>(
    "select row_to_json(h)::text as head from holdfast.head h where tenant = $1",
    [tenant],
  );
  return rows[0]?.head as string;
}

export async function saveArrival(tx: Transaction, tenant: number, head: string): Promise<void> {
  await tx.query(
    "insert into holdfast.arrival (tenant, head) values ($1, $2) on conflict (tenant) do update set head = excluded.head",
    [tenant, head],
  );
}

export async function deleteArrival(tx: Transaction, tenant: number): Promise<void> {
  await tx.query("delete from holdfast.arrival where tenant = $1", [tenant]);
}

/** From now on the target serves the tenant. */
export async function openHead(tx: Transaction, tenant: number): Promise<void> {
  await tx.query(
    `insert into holdfast.head select h.* from holdfast.arrival a, json_populate_record(null::holdfast.head, a.head) h where a.tenant = $1`,
    [tenant],
  );
  await deleteArrival(tx, tenant);
}

/** From now on the source serves the tenant no more: without a head nothing is read or written. */
export async function closeHead(tx: Transaction, tenant: number): Promise<void> {
  for (const table of ["head", ...LAST]) await tx.query(`delete from holdfast.${table} where tenant = $1`, [tenant]);
}

/** Deletes some of a tenant's rows. Returns whether there may be more. */
export async function deleteSome(tx: Transaction, tenant: number, most: number): Promise<boolean> {
  for (const table of MOVED) {
    const { rowCount } = await tx.query(
      `delete from holdfast.${table} where ctid = any(array(select ctid from holdfast.${table} where tenant = $1 limit $2))`,
      [tenant, most],
    );
    if ((rowCount ?? 0) > 0) return true;
  }
  return false;
}

/** Whether tables of the caller's own are attached, which cannot move. */
export async function hasAttachedTables(db: Transaction, tenant: number): Promise<boolean> {
  const { rows } = await db.query<{ any: boolean }>(
    "select exists (select from holdfast.attached_table where tenant = $1) as any",
    [tenant],
  );
  return rows[0]?.any === true;
}

/**
 * One process at a time moves a tenant: it holds this lock in both databases, on the connections that it writes with, so
 * nothing of it can be written after another one has begun. Returns false if another process has the lock.
 */
export async function lockMove(connection: Connection, tenant: number): Promise<boolean> {
  const { rows } = await connection.query<{ mine: boolean }>("select pg_try_advisory_lock($1, $2) as mine", [
    LOCK,
    tenant,
  ]);
  return rows[0]?.mine === true;
}

const LOCK = 4_270_007;

/** A log in a database, and whose it is there. `lastAt`: ISO, of its newest entry. */
export interface FoundLog {
  readonly tenant: number;
  readonly organization: string;
  readonly livemode: boolean;
  readonly entries: number;
  readonly lastAt: string;
}

/** All logs of a database, also those of tenants that have arrived and are not open yet. */
export async function listLogs(db: Transaction): Promise<FoundLog[]> {
  const { rows } = await db.query<FoundLog & Record<string, unknown>>(
    `select t.id as tenant, t.organization, t.livemode, l.sync_id as entries, l.last_at as "lastAt"
     from holdfast.tenant t cross join lateral (
       select h.sync_id, h.last_at from holdfast.head h where h.tenant = t.id
       union all
       select (a.head ->> 'sync_id')::bigint, (a.head ->> 'last_at')::timestamptz from holdfast.arrival a where a.tenant = t.id
       limit 1) l
     order by t.id`,
  );
  return rows;
}

/** An empty log, where the tenant has no rows. */
export async function insertHead(tx: Transaction, tenant: number, logId: string): Promise<void> {
  await tx.query("insert into holdfast.head (tenant, log_id) values ($1, $2)", [tenant, logId]);
}
