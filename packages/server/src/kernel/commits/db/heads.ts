import type { Statement } from "../../connection/statement.ts";
import type { Transaction } from "../../connection/transaction.ts";
import type { Head } from "../rules/tenant-state.ts";
import { TenantElsewhere } from "./tenant-elsewhere.ts";

/** Whether a schema push has stored newer forms beside some of the tenant's rows: see rewritten-records.ts. */
export interface Rewriting {
  readonly rewriting: boolean;
}

export interface LockedHead extends Head {
  readonly tenant: number;
  /** The database's clock, or the newest entry's time if that is later: times in a log never run backwards. */
  readonly now: string;
  /** The last number that a claim change used. */
  readonly claimChange: number;
  /** Number of claims that have not ended. */
  readonly claims: number;
}

const COLUMNS = `h.tenant, h.log_id, h.sync_id, h.writer, h.other_sync_id, h.schema_version, h.trimmed_to, h.rewriting`;

interface HeadRow {
  tenant: number;
  log_id: string;
  sync_id: number;
  writer: string | null;
  other_sync_id: number;
  schema_version: number;
  trimmed_to: number;
  rewriting: boolean;
}

const toHead = (row: HeadRow): Head & Rewriting => ({
  logId: row.log_id,
  syncId: row.sync_id,
  writer: row.writer,
  otherSyncId: row.other_sync_id,
  schemaVersion: row.schema_version,
  trimmedTo: row.trimmed_to,
  rewriting: row.rewriting,
});

/**
 * Locks the heads of the tenants that a round writes to, ordered by tenant, so that two processes cannot deadlock. A
 * separate statement: under read committed, later statements then see the tenant as it is under the lock.
 */
export const lockHeads = (tenants: readonly number[]): Statement<(LockedHead & Rewriting)[]> => ({
  name: "lock_heads",
  text: `select h.* from unnest($1::int[]) as k(tenant)
    cross join lateral (select ${COLUMNS}, h.claim_change, h.claims, greatest(h.last_at, clock_timestamp()::timestamptz(3)) as now
      from holdfast.head h where h.tenant = k.tenant limit 1 for update) h`,
  values: [tenants.toSorted((a, b) => a - b)],
  read: (rows) =>
    (rows as (HeadRow & { now: string; claim_change: number; claims: number })[]).map((row) => ({
      ...toHead(row),
      tenant: row.tenant,
      now: row.now,
      claimChange: row.claim_change,
      claims: row.claims,
    })),
});

/** Locks one tenant's head, and returns it as it is under the lock. */
export async function lockHead(tx: Transaction, tenant: number): Promise<LockedHead & Rewriting> {
  const { text, values, read } = lockHeads([tenant]);
  const { rows, command } = await tx.query(text, [...values]);
  const [head] = read(rows, command);
  if (!head) throw new TenantElsewhere(tenant);
  return head;
}

export async function readHead(db: Transaction, tenant: number): Promise<Head & Rewriting> {
  const { rows } = await db.query<HeadRow>({
    name: "read_head",
    text: `select ${COLUMNS} from holdfast.head h where h.tenant = $1`,
    values: [tenant],
  });
  const row = rows[0];
  if (!row) throw new TenantElsewhere(tenant);
  return toHead(row);
}

/** Whether the tenant lives in this database. */
export async function hasHead(db: Transaction, tenant: number): Promise<boolean> {
  return (await readHeads(db, [tenant])).has(tenant);
}

/** The tenants whose heads no other transaction has locked. Does not wait for locks. */
export const freeHeads = (tenants: readonly number[]): Statement<ReadonlySet<number>> => ({
  name: "free_heads",
  text: "select tenant from holdfast.head where tenant = any($1::int[]) order by tenant for update skip locked",
  values: [tenants],
  read: (rows) => new Set((rows as { tenant: number }[]).map(({ tenant }) => tenant)),
});

/** A head with the position of the newest erasure: log pages that were read before that erasure must not be sent. */
export interface ReadableHead extends Head {
  readonly erasedTo: number;
}

/** The heads of several tenants. */
export async function readHeads(db: Transaction, tenants: readonly number[]): Promise<Map<number, ReadableHead>> {
  const { rows } = await db.query<HeadRow & { erased_to: number }>({
    name: "read_heads",
    text: `select ${COLUMNS}, h.erased_to from unnest($1::int[]) as k(tenant)
      cross join lateral (select * from holdfast.head h where h.tenant = k.tenant limit 1) h`,
    values: [tenants],
  });
  return new Map(rows.map((row) => [row.tenant, { ...toHead(row), erasedTo: row.erased_to }]));
}

/** The fields of a head that change. */
export interface PolledHead {
  readonly syncId: number;
  readonly schemaVersion: number;
  readonly claimChange: number;
}

/** The current heads of several tenants, for polling. */
export async function readPolledHeads(db: Transaction, tenants: readonly number[]): Promise<Map<number, PolledHead>> {
  const { rows } = await db.query<PolledHead & { tenant: number }>({
    name: "read_polled_heads",
    text: `select h.* from unnest($1::int[]) as k(tenant)
      cross join lateral (select tenant, sync_id as "syncId", schema_version as "schemaVersion", claim_change as "claimChange"
        from holdfast.head h where h.tenant = k.tenant limit 1) h`,
    values: [tenants],
  });
  return new Map(rows.map((row) => [row.tenant, row]));
}
