import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { DeliveryState } from "../rules/delivery.ts";
import { type Attempt, noteAttempts } from "./webhook-attempts.ts";
import { ENDPOINT, type Endpoint, isoOrNull, toEndpoint, WITH_HEAD } from "./webhook-endpoints.ts";

/** An endpoint, and the database's time of the read, in milliseconds since 1970. */
export interface EndpointReading {
  readonly endpoint: Endpoint;
  readonly now: number;
}

type Row = Parameters<typeof toEndpoint>[0] & { now_ms: number };

const NOW = "(extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms";

const toReading = (row: Row): EndpointReading => ({ endpoint: toEndpoint(row), now: Math.floor(row.now_ms) });

/** Tenants with enabled endpoints, and how many. */
export async function readTenantsWithWebhooks(db: Transaction): Promise<Map<number, number>> {
  const { rows } = await db.query<{ tenant: number; endpoints: number }>({
    name: "read_told_tenants",
    text: "select tenant, count(*)::int as endpoints from holdfast.webhook_endpoint where disabled_reason is null group by tenant",
    values: [],
  });
  return new Map(rows.map(({ tenant, endpoints }) => [tenant, endpoints]));
}

/** The state of all endpoints of all tenants, for metrics. */
export interface WebhookBacklog {
  /** Enabled and not failing. */
  readonly enabled: number;
  /** Enabled, and waiting for a retry or making one. */
  readonly failing: number;
  readonly disabled: number;
  /** The largest number of undelivered entries of an endpoint that is not disabled. */
  readonly lag: number;
}

export async function readWebhookBacklog(db: Transaction): Promise<WebhookBacklog> {
  const { rows } = await db.query<WebhookBacklog>({
    name: "read_webhook_standing",
    text: `select count(*) filter (where told and not failing)::int as enabled,
        count(*) filter (where told and failing)::int as failing,
        count(*) filter (where not told)::int as disabled,
        coalesce(max(sync_id - cursor) filter (where told), 0)::bigint as lag
      from (select e.disabled_reason is null as told, e.next_attempt_at is not null or e.attempt > 1 as failing,
          h.sync_id, e.cursor
        from holdfast.webhook_endpoint e ${WITH_HEAD}) e`,
    values: [],
  });
  return rows[0] as WebhookBacklog;
}

/** The enabled endpoints of these tenants with log entries beyond their cursor. */
export async function readBehind(db: Transaction, tenants: readonly number[]): Promise<EndpointReading[]> {
  const { rows } = await db.query<Row>({
    name: "read_behind",
    text: `select ${ENDPOINT}, ${NOW} from holdfast.webhook_endpoint e ${WITH_HEAD}
      where e.tenant = any($1::int[]) and e.disabled_reason is null and h.sync_id > e.cursor`,
    values: [tenants],
  });
  return rows.map(toReading);
}

export async function readDelivery(db: Transaction, tenant: number, id: string): Promise<EndpointReading | undefined> {
  const { rows } = await db.query<Row>({
    name: "read_delivery",
    text: `select ${ENDPOINT}, ${NOW} from holdfast.webhook_endpoint e ${WITH_HEAD} where e.tenant = $1 and e.id = $2`,
    values: [tenant, id],
  });
  return rows[0] && toReading(rows[0]);
}

/** The new state of an endpoint. It is saved only if the endpoint has not changed since it was read. */
export interface DeliveryChange {
  readonly endpoint: Endpoint;
  readonly delivery: DeliveryState;
  /** An attempt to record together with the change. */
  readonly attempt?: Attempt | undefined;
}

/** A saved change: the endpoint's new version, and its log and the database's clock at that moment. */
export interface Saved
  extends Pick<Endpoint, "tenant" | "id" | "version" | "head" | "logId" | "schemaVersion" | "erasedTo"> {
  readonly now: number;
}

/** Saves all changes that apply. An endpoint missing from the result was changed or removed meanwhile. */
export async function saveDeliveries(db: Transaction, changes: readonly DeliveryChange[]): Promise<Saved[]> {
  const { rows } = await db.query<Saved & Record<string, unknown>>({
    name: "save_deliveries",
    text: SAVE,
    values: [
      JSON.stringify(
        changes.map(({ endpoint: { tenant, id, version }, delivery, attempt }) => ({
          ...delivery,
          tenant,
          id,
          version,
          noted: attempt ? 1 : 0,
          nextAttemptAt: isoOrNull(delivery.nextAttemptAt),
          lastSuccessAt: isoOrNull(delivery.lastSuccessAt),
          lease: delivery.lease?.token ?? null,
          leasedAt: isoOrNull(delivery.lease?.at ?? null),
          leasedUntil: isoOrNull(delivery.lease?.until ?? null),
        })),
      ),
      JSON.stringify(
        changes.flatMap(({ endpoint: { tenant, id }, attempt }) =>
          attempt ? [{ ...attempt, tenant, endpoint: id }] : [],
        ),
      ),
    ],
  });
  return rows.map((row) => ({ ...row, now: Math.floor(row.now) }));
}

// Lock the rows in a fixed order, so that two processes that save several of them cannot deadlock.
const SAVE = `
with wish as materialized (
  select * from json_to_recordset($1::json) as x(tenant int, id text, version bigint, "disabledReason" text, revision int, cursor bigint, attempt int,
    "batchTo" bigint, "batchSize" int, "nextAttemptAt" timestamptz(3), lease text, "leasedAt" timestamptz(3), "leasedUntil" timestamptz(3),
    "lastError" json, "lastSuccessAt" timestamptz(3), noted int)
), mine as materialized (
  select e.tenant, e.id from wish x cross join lateral (
    select e.tenant, e.id, e.version from holdfast.webhook_endpoint e where e.tenant = x.tenant and e.id = x.id limit 1 for update) e
  where e.version = x.version
), saved as (
  update holdfast.webhook_endpoint e set disabled_reason = x."disabledReason", revision = x.revision, cursor = x.cursor, attempt = x.attempt,
    batch_to = x."batchTo", batch_size = x."batchSize", next_attempt_at = x."nextAttemptAt", lease = x.lease, leased_at = x."leasedAt",
    leased_until = x."leasedUntil", last_error = x."lastError", last_success_at = x."lastSuccessAt", version = e.version + 1, attempts = e.attempts + x.noted
  from wish x join mine using (tenant, id) where e.tenant = x.tenant and e.id = x.id and e.version = x.version
  returning e.tenant, e.id, e.version, e.attempts
), noted as (${noteAttempts("saved", 2)})
select e.tenant, e.id, e.version, h.sync_id as head, h.log_id as "logId", h.schema_version as "schemaVersion", h.erased_to as "erasedTo", (extract(epoch from clock_timestamp()) * 1000)::float8 as now
from saved e cross join lateral (select sync_id, log_id, schema_version, erased_to from holdfast.head h where h.tenant = e.tenant limit 1) h`;
