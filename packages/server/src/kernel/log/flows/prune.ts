import type { Database } from "../../connection/pool.ts";
import { type Transaction, transaction } from "../../connection/transaction.ts";
import { deleteOldUsage } from "../../organizations/db/usage.ts";
import {
  claimPruning,
  deleteEntries,
  deleteOlder,
  type LogStart,
  PRUNE_STEP,
  readLogStarts,
  readTrimTarget,
  setTrimmed,
} from "../db/prune.ts";

/** No token lives longer than a day. */
const BUDGET_DAYS = 2;
/** After the end of a proposal. */
const PROPOSAL_DAYS = 90;

/** How long data is kept. Without `logDays`, the log is never trimmed. */
export interface Retention {
  readonly receiptDays: number;
  /** How long an ended token can still be looked up. */
  readonly tokenDays: number;
  readonly usageDays: number;
  /** How long an ended claim can still be looked up. */
  readonly claimDays: number;
  /** How long a delivery attempt can still be looked up. */
  readonly attemptDays: number;
  readonly logDays: number | undefined;
}

export interface Pruned {
  readonly receipts: number;
  readonly tokens: number;
  readonly usage: number;
  readonly claims: number;
  readonly attempts: number;
  readonly entries: number;
}

/**
 * Deletes expired data in small steps, each with few locks that it holds briefly. A log is trimmed in two phases:
 *
 *   store in its head how far it is trimmed ─► COMMIT ─► delete those entries
 *
 * In this order, a reader is sent a resync before any entry is missing, and after a crash in between only the deletion
 * remains.
 */
export async function prune(
  db: Database,
  { receiptDays, tokenDays, usageDays, claimDays, attemptDays, logDays }: Retention,
): Promise<Pruned> {
  const receipts = await untilDone(db, (tx) => deleteOlder(tx, "receipt", receiptDays));
  const tokens = await untilDone(db, (tx) => deleteOlder(tx, "scoped_token", tokenDays));
  await untilDone(db, (tx) => deleteOlder(tx, "ended_token", tokenDays));
  await untilDone(db, (tx) => deleteOlder(tx, "spent_budget", BUDGET_DAYS));
  await untilDone(db, (tx) => deleteOlder(tx, "proposal", PROPOSAL_DAYS));
  const usage = await untilDone(db, (tx) => deleteOldUsage(tx, usageDays));
  const claims = await untilDone(db, (tx) => deleteOlder(tx, "claim", claimDays));
  const attempts = await untilDone(db, (tx) => deleteOlder(tx, "webhook_attempt", attemptDays));
  let entries = 0;
  if (logDays !== undefined) for (const start of await readLogStarts(db)) entries += await trimLog(db, start, logDays);
  return { receipts, tokens, usage, claims, attempts, entries };
}

async function trimLog(db: Database, { tenant, trimmedTo: from }: LogStart, days: number): Promise<number> {
  let trimmedTo = from;
  // Also deletes what a process that stopped in between has left.
  let deleted = await untilDone(db, (tx) => deleteEntries(tx, tenant, trimmedTo));
  for (;;) {
    const target = await readTrimTarget(db, { tenant, trimmedTo }, days);
    if (target === trimmedTo) return deleted;
    const reached = await transaction(db, (tx) => setTrimmed(tx, tenant, target));
    // Stop here if the rest still has to be delivered to endpoints.
    if (reached === trimmedTo) return deleted;
    trimmedTo = reached;
    deleted += await untilDone(db, (tx) => deleteEntries(tx, tenant, reached));
  }
}

/** Repeats a step, each time in its own transaction, until it deletes less than a full step. */
async function untilDone(db: Database, step: (tx: Transaction) => Promise<number>): Promise<number> {
  let all = 0;
  for (;;) {
    const count = await transaction(db, async (tx) => ((await claimPruning(tx)) ? await step(tx) : 0));
    all += count;
    if (count < PRUNE_STEP) return all;
  }
}
