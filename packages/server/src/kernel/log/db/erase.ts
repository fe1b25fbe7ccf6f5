import type { RecordName } from "../../commits/db/records.ts";
import type { Statement } from "../../connection/statement.ts";
import type { Transaction } from "../../connection/transaction.ts";

/** A record that a round erases, and the position of its erasure entry. */
export interface ErasedRecord extends RecordName {
  readonly syncId: number;
}

/**
 * Removes the values of records from everything that stores them besides their rows: older log entries, receipts of
 * held commits, responses of webhook receivers, and rows that a push prepared. Failed webhook batches with these values
 * are sent again under a new id, because their positions now have different content. Runs after the round's save, so
 * that the entries that end the records exist, and after `holdOffCopies`. The statement has no name, so that it is
 * planned each time: it is rare, and a plan from when the log was small would scan all of it.
 */
export const eraseRecords = (records: readonly ErasedRecord[]): Statement<void> => ({
  name: "",
  text: ERASE,
  values: [
    records.map(({ tenant }) => tenant),
    records.map(({ model }) => model),
    records.map(({ id }) => id),
    records.map(({ syncId }) => syncId),
  ],
  read: () => {},
});

const LOCK = 4_270_006;

/**
 * Until the round ends, no push copies records of these tenants. What a push read before the erasure has been written
 * by now, and the erasure finds it; what it reads later no longer has the values. A separate statement: the erasure has
 * to see what was written while this one waited for its lock.
 */
export const holdOffCopies = (tenants: readonly number[]): Statement<void> => ({
  name: "",
  text: "select pg_advisory_xact_lock($1, tenant) from (select distinct tenant from unnest($2::int[]) as k(tenant) order by tenant) k",
  values: [LOCK, tenants],
  read: () => {},
});

/** Until this transaction ends, no record of the tenant is erased. Call it before reading the records to copy. */
export async function holdOffErasures(tx: Transaction, tenant: number): Promise<void> {
  await tx.query("select pg_advisory_xact_lock_shared($1, $2)", [LOCK, tenant]);
}

const OF_RECORD = "l.tenant = k.tenant and l.id = k.id and l.model = k.model";

const ERASE = `
with k as materialized (
  select * from unnest($1::int[], $2::text[], $3::text[], $4::bigint[]) as k(tenant, model, id, sync_id)
), tenant as (
  select tenant, max(sync_id) as sync_id, array_agg(model || '/' || id) as records from k group by tenant
), past as materialized (
  select k.tenant, l.sync_id from k cross join lateral (
    select l.sync_id from holdfast.log l where ${OF_RECORD} and l.verb <> 'created' and l.sync_id < k.sync_id
    union select l.created_sync_id from holdfast.log l
      where ${OF_RECORD} and l.created_sync_id is not null and l.created_sync_id < k.sync_id) l
), erased as (
  update holdfast.log l set data = null, attribution = holdfast.without_words(attribution) from past p
  where l.tenant = p.tenant and l.sync_id = p.sync_id and (l.data is not null or l.attribution is not null)
  returning l.tenant, l.sync_id
), reach as (
  select tenant, range_agg(int8range(sync_id, sync_id, '[]')) as positions from erased group by tenant
), headed as (
  update holdfast.head h set erased_to = t.sync_id from tenant t where h.tenant = t.tenant
), told as (
  update holdfast.webhook_endpoint e set revision = e.revision + 1, attempt = 0, next_attempt_at = null, version = e.version + 1
  from reach r where e.tenant = r.tenant and e.batch_to is not null and r.positions && int8range(least(e.cursor, e.batch_to), e.batch_to, '(]')
), prepared as (
  delete from holdfast.rewritten_record n using k where n.tenant = k.tenant and n.model = k.model and n.id = k.id
), attempted as (
  update holdfast.webhook_attempt a set response = null from reach r
  where a.tenant = r.tenant and a.response is not null and a.from_sync_id is not null
    and r.positions && int8range(a.from_sync_id, a.to_sync_id, '[]')
)
update holdfast.receipt c set body = holdfast.without_values(c.body, t.records) from tenant t
where c.tenant = t.tenant and c.held and exists (
  select from json_array_elements(c.body -> 'notifications') n
  where lower(n ->> 'model') || '/' || (n ->> 'id') = any(t.records))`;
