import { errorState, isEmptied } from "../../connection/database-error.ts";
import type { Transaction } from "../../connection/transaction.ts";

export interface LogEpoch {
  /** Changes whenever the logs get new ids. */
  readonly epoch: string;
  /** Where the logs were last written, as `actual` was then; null: not stored yet. */
  readonly origin: string | null;
  /**
   * `<system identifier>/<timeline>/<database>/<transaction>`: where the logs are now, and which transaction has written
   * the row that says so. Undefined: this database does not report the first two.
   */
  readonly actual: string | undefined;
}

const COLUMNS = "e.epoch, e.origin";
/**
 * The name of the current WAL file starts with the timeline. The control file lags behind: after a promotion it has the
 * new timeline only once the next checkpoint is complete.
 */
const SERVER =
  "(select system_identifier from pg_control_system())::text || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)";
/** A copy by `create database … template` is another database. */
const PLACE = `${SERVER} || '/' || (select oid from pg_database where datname = current_database())`;
/** Loading a dump, also into the same tables, writes the row anew. Freezing keeps the transaction. */
const ACTUAL = `${PLACE} || '/' || e.xmin`;

/** Needs no special privileges. If a hosting service restricts these functions, `actual` is undefined. */
export async function readLogEpoch(db: Transaction): Promise<LogEpoch> {
  try {
    const { rows } = await db.query<LogEpoch>(`select ${COLUMNS}, ${ACTUAL} as actual from holdfast.log_epoch e`);
    return rows[0] as LogEpoch;
  } catch (error) {
    if (!REFUSALS.has(errorState(error) ?? "")) throw error;
    const { rows } = await db.query<LogEpoch & { recovering: boolean }>(
      `select ${COLUMNS}, pg_is_in_recovery() as recovering from holdfast.log_epoch e`,
    );
    const { recovering, ...found } = rows[0] as LogEpoch & { recovering: boolean };
    // A server in recovery learns its timeline once it accepts writes.
    if (recovering) throw error;
    return { ...found, actual: undefined };
  }
}

/** Two names with the same identity lead to one database. A copy has another one. Undefined: it was emptied. */
export async function readIdentity(db: Transaction): Promise<string | undefined> {
  try {
    const found = (await readLogEpoch(db)) as LogEpoch | undefined;
    return found && `${found.epoch} ${found.actual}`;
  } catch (error) {
    if (isEmptied(error)) return undefined;
    throw error;
  }
}

/** SQLSTATEs: no privilege, not supported, wrong state, no such function. */
const REFUSALS: ReadonlySet<string> = new Set(["42501", "0A000", "55000", "42883"]);

/** Serializes transactions that may renew the logs' ids. */
export async function lockLogEpoch(tx: Transaction): Promise<void> {
  await tx.query("select from holdfast.log_epoch for update");
}

/** As `actual` is once this transaction has committed. Returns it. */
export async function saveOrigin(tx: Transaction): Promise<string> {
  const { rows } = await tx.query<{ origin: string }>(
    `update holdfast.log_epoch set origin = ${PLACE} || '/' || pg_current_xact_id()::xid returning origin`,
  );
  return (rows[0] as { origin: string }).origin;
}

/** All heads, locked in the same order as in every round. */
export async function lockAllHeads(tx: Transaction): Promise<number[]> {
  const { rows } = await tx.query<{ tenant: number }>("select tenant from holdfast.head order by tenant for update");
  return rows.map(({ tenant }) => tenant);
}

/**
 * Gives logs new ids and notifies the running processes. Fences continue above all that were granted, and claims end,
 * because claims granted since the backup are unknown. Webhook deliveries of the same positions get new ids.
 */
export async function renewLogIds(
  tx: Transaction,
  logs: readonly { readonly tenant: number; readonly logId: string }[],
): Promise<string> {
  const tenants = logs.map(({ tenant }) => tenant);
  await tx.query(
    `update holdfast.head h set log_id = n.log_id, claim_change = holdfast.fence_floor(h.claim_change)
     from unnest($1::int[], $2::text[]) as n(tenant, log_id) where h.tenant = n.tenant`,
    [tenants, logs.map(({ logId }) => logId)],
  );
  await tx.query(
    "update holdfast.claim set revoked_at = clock_timestamp() where ended_at is null and tenant = any($1::int[])",
    [tenants],
  );
  await tx.query(
    `update holdfast.webhook_endpoint set attempt = 0, next_attempt_at = null, version = version + 1,
       revision = greatest(revision + 1, extract(epoch from clock_timestamp())::bigint - ${REVISIONS_FROM})
     where tenant = any($1::int[])`,
    [tenants],
  );
  await tx.query(SKIP_TENANTS);
  const { rows } = await tx.query<{ epoch: string }>(
    "update holdfast.log_epoch set epoch = gen_random_uuid()::text returning epoch",
  );
  // A mark in the format of wake.ts, without a sender: every process handles it.
  await tx.query("select pg_notify('holdfast_wake', '- e')");
  return (rows[0] as { epoch: string }).epoch;
}

/**
 * Numbers of tenants that were made after a backup are not given again: rows of theirs may be in databases that were not
 * restored. Leaves room for 200 000 restores.
 */
const SKIP_TENANTS =
  "select setval(s.name, nextval(s.name) + 10000) from (select pg_get_serial_sequence('holdfast.tenant', 'id') as name) s";

/** An epoch for revisions that keeps seconds within four bytes until 2088. */
const REVISIONS_FROM = 1_600_000_000;
