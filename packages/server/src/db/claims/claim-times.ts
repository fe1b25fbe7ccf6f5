import type { RecordName } from "../commits/records.ts";
import type { Transaction } from "../connection/transaction.ts";
import type { TenantHolder } from "./claim-row.ts";

// What time does to claims, and who is still there. These have no name: each is planned by the table as it then is.

/** Records whose claims time has done something to: a lease is over, a waiter was silent for too long, a token revoked. */
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
 * Records where somebody waits whose turn it is: whoever was before it fell silent. Only the lines of those who fell silent
 * last are looked through.
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

/** Milliseconds until the next lease is over, of those that are not over yet; undefined when there is none. */
export async function readNextExpiry(db: Transaction): Promise<number | undefined> {
  const { rows } = await db.query<{ ms: number }>({
    text: `select (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as ms
      from holdfast.claim where status = 'active' and expires_at > clock_timestamp() order by expires_at limit 1`,
    values: [],
  });
  return rows[0]?.ms;
}

/** A claim that waits, and of which nothing was heard for a while. */
export interface SilentWaiter extends RecordName {
  readonly claimId: string;
}

/**
 * Notes that these live, on what they wait for. Answers those
 * that had fallen silent, and leaves them so: they may be next, and only a round can say that. Rows that a round is writing
 * just now are left for the next time.
 */
export async function touchWaiters(
  db: Transaction,
  alive: readonly TenantHolder[],
  silentMs: number,
): Promise<SilentWaiter[]> {
  const { rows } = await db.query<{ tenant: number; model: string; record: string; id: string }>({
    text: `with heard as (
        select c.* from unnest($1::text[]) as k(waiter)
        cross join lateral (
          select c.ctid as row, c.tenant, c.id, c.model, c.record, c.seen_at < clock_timestamp() - make_interval(secs => $2::float8 / 1000) as silent
          from holdfast.claim c where c.waiter = k.waiter
          for update skip locked) c
      ), touched as (
        update holdfast.claim set seen_at = clock_timestamp() where ctid = any(array(select row from heard where not silent))
      )
      select distinct tenant, model, record, id from heard where silent`,
    values: [alive.map(({ tenant, holder }) => `${tenant}/${holder}`), silentMs],
  });
  return rows.map(({ tenant, model, record, id }) => ({ tenant, model, id: record, claimId: id }));
}

/** The same for one claim that somebody asks about. False: it had fallen silent, and still is; or it waits no more. */
export async function touchClaim(db: Transaction, tenant: number, id: string, silentMs: number): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `update holdfast.claim set seen_at = clock_timestamp() where tenant = $1 and id = $2 and status = 'queued'
      and seen_at >= clock_timestamp() - make_interval(secs => $3::float8 / 1000)`,
    values: [tenant, id, silentMs],
  });
  return rowCount === 1;
}
