import type { Transaction } from "../../connection/transaction.ts";

/** Most rows that one statement deletes, so that its locks are short. */
export const PRUNE_STEP = 1_000;

const LOCK = 4_270_003;

/** Whether this process may prune until its transaction ends. One process at a time does. */
export async function claimPruning(tx: Transaction): Promise<boolean> {
  const { rows } = await tx.query<{ mine: boolean }>("select pg_try_advisory_xact_lock($1) as mine", [LOCK]);
  return rows[0]?.mine === true;
}

/** The tables whose rows are kept for some days, and since when. */
const SINCE = {
  receipt: "created_at",
  // Also those that were revoked.
  scoped_token: "expires_at",
  // After that no process can know them any more.
  ended_token: "ended_at",
  claim: "ended_at",
  webhook_attempt: "started_at",
  spent_budget: "updated_at",
  proposal: "ends_at",
} as const;
const COARSE: ReadonlySet<string> = new Set<keyof typeof SINCE>(["receipt", "webhook_attempt"]);

/** Deletes some rows that are older than `days`. Returns how many. */
export async function deleteOlder(tx: Transaction, table: keyof typeof SINCE, days: number): Promise<number> {
  // A BRIN index is small and coarse. Without statistics, the planner would prefer a full scan.
  if (COARSE.has(table)) await tx.query("set local enable_seqscan = off");
  const { rowCount } = await tx.query(
    `delete from holdfast.${table} where ctid = any(array(
       select ctid from holdfast.${table} where ${SINCE[table]} < clock_timestamp() - make_interval(days => $1) limit $2))`,
    [days, PRUNE_STEP],
  );
  return rowCount ?? 0;
}

export interface LogStart {
  readonly tenant: number;
  readonly trimmedTo: number;
}

/** The first position that is kept, for each log. */
export async function readLogStarts(tx: Transaction): Promise<LogStart[]> {
  const { rows } = await tx.query<{ tenant: number; trimmed_to: number }>(
    "select tenant, trimmed_to from holdfast.head order by tenant",
  );
  return rows.map(({ tenant, trimmed_to }) => ({ tenant, trimmedTo: trimmed_to }));
}

/** How far a log may be trimmed now: some entries further, as long as they are older than `days`. */
export async function readTrimTarget(tx: Transaction, { tenant, trimmedTo }: LogStart, days: number): Promise<number> {
  // Times in a log never run backwards, so its oldest entries come first.
  const { rows } = await tx.query<{ target: number | null }>(
    `select max(sync_id) as target from (
       select sync_id, created_at from holdfast.log where tenant = $1 and sync_id > $2 order by sync_id limit $4) l
     where created_at < clock_timestamp() - make_interval(days => $3)`,
    [tenant, trimmedTo, days, PRUNE_STEP],
  );
  return rows[0]?.target ?? trimmedTo;
}

/**
 * Marks entries up to a position as trimmed, but not those that an endpoint still needs. Returns the position. Waits
 * for the head's lock, so that no round reads the log meanwhile and no endpoint is created.
 */
export async function setTrimmed(tx: Transaction, tenant: number, to: number): Promise<number> {
  await tx.query("select from holdfast.head where tenant = $1 for update", [tenant]);
  const { rows } = await tx.query<{ trimmed_to: number }>(
    `update holdfast.head set trimmed_to = greatest(trimmed_to, least($2::bigint, (
       select min(cursor) from holdfast.webhook_endpoint where tenant = $1))) where tenant = $1 returning trimmed_to`,
    [tenant, to],
  );
  return rows[0]?.trimmed_to ?? to;
}

/** Deletes some entries up to a position. Returns how many. */
export async function deleteEntries(tx: Transaction, tenant: number, to: number): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from holdfast.log where ctid = any(array(
       select ctid from holdfast.log where tenant = $1 and sync_id <= $2 order by sync_id limit $3))`,
    [tenant, to, PRUNE_STEP],
  );
  return rowCount ?? 0;
}
