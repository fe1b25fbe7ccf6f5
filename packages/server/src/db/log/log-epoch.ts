import { errorState } from "../connection/database-error.ts";
import type { Transaction } from "../connection/transaction.ts";

export interface LogEpoch {
  /** Another one whenever the logs get new ids. */
  readonly epoch: string;
  /** The database in which the logs were written last; null: not written down yet. */
  readonly origin: string | null;
  /** This database: its system identifier and its timeline. Undefined: it does not say. */
  readonly actual: string | undefined;
}

const COLUMNS = "e.epoch, e.origin";
/**
 * The name of the current WAL file begins with the timeline. The control file lags behind: after a promotion it has the
 * new timeline only when the next checkpoint is complete.
 */
const ACTUAL =
  "(select system_identifier from pg_control_system())::text || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)";

/** Needs no more than any user may ask. A service that keeps these functions to itself leaves `actual` undefined. */
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
    // It knows its timeline when it takes writes.
    if (recovering) throw error;
    return { ...found, actual: undefined };
  }
}

/** SQLSTATEs: not allowed, not supported, not in this state, no such function. */
const REFUSALS: ReadonlySet<string> = new Set(["42501", "0A000", "55000", "42883"]);

/** One transaction at a time decides about the logs' ids. */
export async function lockLogEpoch(tx: Transaction): Promise<Pick<LogEpoch, "epoch" | "origin">> {
  const { rows } = await tx.query<LogEpoch>(`select ${COLUMNS} from holdfast.log_epoch e for update`);
  return rows[0] as LogEpoch;
}

export async function saveOrigin(tx: Transaction, origin: string): Promise<void> {
  await tx.query("update holdfast.log_epoch set origin = $1", [origin]);
}

/** All heads, locked in the order in which every round locks them. */
export async function lockAllHeads(tx: Transaction): Promise<number[]> {
  const { rows } = await tx.query<{ tenant: number }>("select tenant from holdfast.head order by tenant for update");
  return rows.map(({ tenant }) => tenant);
}

/**
 * Gives logs other ids, and tells the processes that run. Fences go on above all that were given, and claims end: who held
 * one, or was granted one since, is not known. What webhooks tell of the same positions is named anew.
 */
export async function renewLogIds(
  tx: Transaction,
  logs: readonly { readonly tenant: number; readonly logId: string }[],
): Promise<string> {
  await tx.query(
    `update holdfast.head h set log_id = n.log_id, claim_change = holdfast.fence_floor(h.claim_change)
     from unnest($1::int[], $2::text[]) as n(tenant, log_id) where h.tenant = n.tenant`,
    [logs.map(({ tenant }) => tenant), logs.map(({ logId }) => logId)],
  );
  await tx.query("update holdfast.claim set revoked_at = clock_timestamp() where ended_at is null");
  await tx.query(
    `update holdfast.webhook_endpoint set attempt = 0, next_attempt_at = null, version = version + 1,
       revision = greatest(revision + 1, extract(epoch from clock_timestamp())::bigint - ${REVISIONS_FROM})`,
  );
  const { rows } = await tx.query<{ epoch: string }>(
    "update holdfast.log_epoch set epoch = gen_random_uuid()::text returning epoch",
  );
  // A mark as those of wake.ts, without a sender: every process hears it.
  await tx.query("select pg_notify('holdfast_wake', '- e')");
  return (rows[0] as { epoch: string }).epoch;
}

/** A time before all of them, so that the seconds since then fit into four bytes until 2088. */
const REVISIONS_FROM = 1_600_000_000;
