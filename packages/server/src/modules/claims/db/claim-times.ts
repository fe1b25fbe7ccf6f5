import type { RecordName } from "../../../kernel/commits/db/records.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { TenantHolder } from "./claim-row.ts";

// Queries about expired leases and silent waiters. They have no name, so that Postgres plans each for the table's
// current size.

/**
 * Records with claims that time has ended: the lease is over, the waiter was silent for too long, or the token is
 * revoked.
 */
export async function readDueQueues(
  db: Transaction,
  { goneMs, but, most }: { goneMs: number; but: readonly number[]; most: number },
): Promise<RecordName[]> {
  const { rows } = await db.query<{ tenant: number; model: string; record: string }>({
    text: `select distinct tenant, model, record from (
        (select tenant, model, record from holdfast.claim where status = 'active' and expires_at <= clock_timestamp()
          and tenant <> all($3::int[]) order by expires_at limit $2)
        union all
        (select tenant, model, record from holdfast.claim where status = 'queued' and seen_at <= clock_timestamp() - make_interval(secs => $1::float8 / 1000)
          and tenant <> all($3::int[]) order by seen_at limit $2)
        union all
        (select tenant, model, record from holdfast.claim where ended_at is null and revoked_at <= clock_timestamp()
          and tenant <> all($3::int[]) order by revoked_at limit $2)
      ) due`,
    values: [goneMs, most, but],
  });
  return rows.map(({ tenant, model, record }) => ({ tenant, model, id: record }));
}

/**
 * Records where a waiter may be granted its claim because everyone ahead of it has fallen silent. Searches only the
 * queues of waiters that fell silent most recently.
 */
export async function readPassedOver(
  db: Transaction,
  { silentMs, goneMs, but, most }: { silentMs: number; goneMs: number; but: readonly number[]; most: number },
): Promise<RecordName[]> {
  const { rows } = await db.query<{ tenant: number; model: string; record: string }>({
    text: `with silent as (
        select distinct queue from (
          select queue from holdfast.claim where status = 'queued' and tenant <> all($3::int[])
            and seen_at < clock_timestamp() - make_interval(secs => $1::float8 / 1000)
            and seen_at > clock_timestamp() - make_interval(secs => $2::float8 / 1000) order by seen_at desc limit $4
        ) last
      )
      select w.tenant, w.model, w.record from silent cross join lateral (
        select w.tenant, w.model, w.record from holdfast.claim w where w.queue = silent.queue and w.status = 'queued'
          and w.seen_at >= clock_timestamp() - make_interval(secs => $1::float8 / 1000)
          and not exists (select from holdfast.claim b where b.queue = w.queue and b.holder <> w.holder
            and (b.field is null or w.field is null or b.field = w.field)
            and case when b.status = 'queued'
              then b.place < w.place and b.seen_at >= clock_timestamp() - make_interval(secs => $1::float8 / 1000)
              else b.expires_at > clock_timestamp() end)
        limit 1) w`,
    values: [silentMs, goneMs, but, most],
  });
  return rows.map(({ tenant, model, record }) => ({ tenant, model, id: record }));
}

/** Milliseconds until the next active lease expires. Undefined if there is none. */
export async function readNextExpiry(db: Transaction): Promise<number | undefined> {
  const { rows } = await db.query<{ ms: number }>({
    text: `select (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as ms
      from holdfast.claim where status = 'active' and expires_at > clock_timestamp() order by expires_at limit 1`,
    values: [],
  });
  return rows[0]?.ms;
}

/** A waiting claim without a recent sign of life. */
export interface SilentWaiter extends RecordName {
  readonly claimId: string;
}

/**
 * Records a sign of life for these holders' waiting claims. Returns those that had fallen silent and leaves them
 * unchanged: they may be due for a grant, which only a round can decide. Skips rows that a round is writing right now
 * until the next call.
 */
export async function touchWaiters(
  db: Transaction,
  alive: readonly TenantHolder[],
  silentMs: number,
): Promise<SilentWaiter[]> {
  const { rows } = await db.query<{ tenant: number; model: string; record: string; id: string }>({
    text: `with received as (
        select c.* from unnest($1::text[]) as k(waiter)
        cross join lateral (
          select c.ctid as row, c.tenant, c.id, c.model, c.record, c.seen_at < clock_timestamp() - make_interval(secs => $2::float8 / 1000) as silent
          from holdfast.claim c where c.waiter = k.waiter
          for update skip locked) c
      ), touched as (
        update holdfast.claim set seen_at = clock_timestamp() where ctid = any(array(select row from received where not silent))
      )
      select distinct tenant, model, record, id from received where silent`,
    values: [alive.map(({ tenant, holder }) => `${tenant}/${holder}`), silentMs],
  });
  return rows.map(({ tenant, model, record, id }) => ({ tenant, model, id: record, claimId: id }));
}

/** The same for one claim. Returns false if the claim had fallen silent (it stays so), or no longer waits. */
export async function touchClaim(db: Transaction, tenant: number, id: string, silentMs: number): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `update holdfast.claim set seen_at = clock_timestamp() where tenant = $1 and id = $2 and status = 'queued'
      and seen_at >= clock_timestamp() - make_interval(secs => $3::float8 / 1000)`,
    values: [tenant, id, silentMs],
  });
  return rowCount === 1;
}
