import type { Transaction } from "../../../kernel/connection/transaction.ts";
import type { DeliveryState, LastError } from "../rules/delivery.ts";

/** A registered receiver of a tenant's log, with the state of its deliveries. */
export interface Endpoint {
  readonly tenant: number;
  /** The organization of the tenant. */
  readonly organization: string;
  readonly id: string;
  readonly url: string;
  readonly enabledEvents: readonly string[];
  readonly description: string | null;
  readonly createdAt: string;
  /** Encrypted. */
  readonly secret: Buffer;
  readonly secretLast4: string;
  /** Encrypted: the secret before the last roll, which signs until `oldSecretUntil`. */
  readonly oldSecret: Buffer | null;
  readonly oldSecretUntil: number | null;
  readonly delivery: DeliveryState;
  /** Increases with every change. */
  readonly version: number;
  /** The head of the log at the time of the read, and its current schema version. */
  readonly head: number;
  readonly logId: string;
  readonly schemaVersion: number;
  /** The position of the newest erasure. */
  readonly erasedTo: number;
}

interface EndpointRow {
  tenant: number;
  organization: string;
  id: string;
  url: string;
  enabled_events: string[];
  description: string | null;
  created_at: string;
  disabled_reason: DeliveryState["disabledReason"];
  revision: number;
  cursor: number;
  attempt: number;
  batch_to: number | null;
  batch_size: number;
  next_attempt_at: string | null;
  lease: string | null;
  leased_at: string | null;
  leased_until: string | null;
  last_error: string | null;
  last_success_at: string | null;
  secret: Buffer;
  secret_last4: string;
  old_secret: Buffer | null;
  old_secret_until: string | null;
  version: number;
  sync_id: number;
  log_id: string;
  schema_version: number;
  erased_to: number;
}

const time = (text: string | null): number | null => (text === null ? null : Date.parse(text));

export const toEndpoint = (row: EndpointRow): Endpoint => ({
  tenant: row.tenant,
  organization: row.organization,
  id: row.id,
  url: row.url,
  enabledEvents: row.enabled_events,
  description: row.description,
  createdAt: row.created_at,
  secret: row.secret,
  secretLast4: row.secret_last4,
  oldSecret: row.old_secret,
  oldSecretUntil: time(row.old_secret_until),
  delivery: {
    disabledReason: row.disabled_reason,
    revision: row.revision,
    cursor: row.cursor,
    attempt: row.attempt,
    batchTo: row.batch_to,
    batchSize: row.batch_size,
    nextAttemptAt: time(row.next_attempt_at),
    lease:
      row.lease === null
        ? null
        : { token: row.lease, at: time(row.leased_at) as number, until: time(row.leased_until) as number },
    lastError: row.last_error === null ? null : (JSON.parse(row.last_error) as LastError),
    lastSuccessAt: time(row.last_success_at),
  },
  version: row.version,
  head: row.sync_id,
  logId: row.log_id,
  schemaVersion: row.schema_version,
  erasedTo: row.erased_to,
});

/** `e` is the endpoint. Queries that use these columns also need `WITH_HEAD`. */
export const ENDPOINT = `e.*, w.organization, h.sync_id, h.log_id, h.schema_version, h.erased_to`;
export const WITH_HEAD = `cross join lateral (select organization from holdfast.tenant w where w.id = e.tenant limit 1) w
  cross join lateral (select sync_id, log_id, schema_version, erased_to from holdfast.head h where h.tenant = e.tenant limit 1) h`;

/** Oldest first. */
export async function listEndpoints(db: Transaction, tenant: number): Promise<Endpoint[]> {
  const { rows } = await db.query<EndpointRow>({
    name: "list_endpoints",
    text: `select ${ENDPOINT} from holdfast.webhook_endpoint e ${WITH_HEAD} where e.tenant = $1 order by e.created_at, e.id`,
    values: [tenant],
  });
  return rows.map(toEndpoint);
}

export async function readEndpoint(db: Transaction, tenant: number, id: string): Promise<Endpoint | undefined> {
  const { rows } = await db.query<EndpointRow>({
    name: "read_endpoint",
    text: `select ${ENDPOINT} from holdfast.webhook_endpoint e ${WITH_HEAD} where e.tenant = $1 and e.id = $2`,
    values: [tenant, id],
  });
  return rows[0] && toEndpoint(rows[0]);
}

/** Locks an endpoint until the transaction ends. */
export async function lockEndpoint(tx: Transaction, tenant: number, id: string): Promise<Endpoint | undefined> {
  await tx.query("select from holdfast.webhook_endpoint where tenant = $1 and id = $2 for update", [tenant, id]);
  return await readEndpoint(tx, tenant, id);
}

/** Locks all endpoints of a tenant. */
export async function lockEndpoints(tx: Transaction, tenant: number): Promise<Endpoint[]> {
  await tx.query("select from holdfast.webhook_endpoint where tenant = $1 order by id for update", [tenant]);
  return await listEndpoints(tx, tenant);
}

export interface NewEndpoint
  extends Pick<Endpoint, "tenant" | "id" | "url" | "enabledEvents" | "description" | "secret" | "secretLast4"> {
  readonly cursor: number;
  readonly batchSize: number;
}

export async function insertEndpoint(tx: Transaction, endpoint: NewEndpoint): Promise<void> {
  const { tenant, id, url, enabledEvents, description, secret, secretLast4, cursor, batchSize } = endpoint;
  await tx.query(
    `insert into holdfast.webhook_endpoint (tenant, id, url, enabled_events, description, secret, secret_last4, cursor, batch_size)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [tenant, id, url, enabledEvents, description, secret, secretLast4, cursor, batchSize],
  );
}

/**
 * Saves a change by the owner. Of a delivery this is the status, the cursor and the attempts; a lease stays with its
 * holder.
 */
export async function updateEndpoint(tx: Transaction, endpoint: Endpoint): Promise<void> {
  const { tenant, id, url, enabledEvents, description, secret, secretLast4, oldSecret, oldSecretUntil, delivery } =
    endpoint;
  await tx.query(
    `update holdfast.webhook_endpoint set url = $3, enabled_events = $4, description = $5, secret = $6, secret_last4 = $7,
       old_secret = $8, old_secret_until = $9, disabled_reason = $10, revision = $11, cursor = $12, attempt = $13, batch_to = $14,
       batch_size = $15, next_attempt_at = $16, version = version + 1
     where tenant = $1 and id = $2`,
    [
      ...[tenant, id, url, enabledEvents, description, secret, secretLast4, oldSecret, isoOrNull(oldSecretUntil)],
      ...[delivery.disabledReason, delivery.revision, delivery.cursor, delivery.attempt, delivery.batchTo],
      ...[delivery.batchSize, isoOrNull(delivery.nextAttemptAt)],
    ],
  );
}

/** Also deletes its attempts. Returns false if there is no such endpoint. */
export async function deleteEndpoint(tx: Transaction, tenant: number, id: string): Promise<boolean> {
  const { rowCount } = await tx.query("delete from holdfast.webhook_endpoint where tenant = $1 and id = $2", [
    tenant,
    id,
  ]);
  await tx.query("delete from holdfast.webhook_attempt where tenant = $1 and endpoint = $2", [tenant, id]);
  return rowCount === 1;
}

/** The endpoints of all tenants whose secret was not encrypted with the newest key, as its prefix shows. */
export async function listStaleSecrets(db: Transaction, fresh: Buffer): Promise<Pick<Endpoint, "tenant" | "id">[]> {
  const { rows } = await db.query<{ tenant: number; id: string }>(
    `select tenant, id from holdfast.webhook_endpoint
     where substring(secret from 1 for $2) <> $1 or substring(old_secret from 1 for $2) <> $1 order by tenant, id`,
    [fresh, fresh.length],
  );
  return rows;
}

/** The database's clock, in milliseconds since 1970. */
export async function readClock(db: Transaction): Promise<number> {
  const { rows } = await db.query<{ now: number }>(
    "select (extract(epoch from clock_timestamp()) * 1000)::float8 as now",
  );
  return Math.floor(rows[0]?.now ?? Number.NaN);
}

export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
