import { deleteEndedClaims } from "../../db/claims/claims.ts";
import type { Database } from "../../db/connection/pool.ts";
import { type Transaction, transaction } from "../../db/connection/transaction.ts";
import {
  claimPruning,
  deleteEntries,
  deleteOldReceipts,
  type LogStart,
  PRUNE_STEP,
  readLogStarts,
  readTrimTarget,
  setTrimmed,
} from "../../db/log/prune.ts";
import { deleteOldUsage } from "../../db/organizations/usage.ts";
import { deleteEndedTokens } from "../../db/tokens/scoped-tokens.ts";
import { deleteOldAttempts } from "../../db/webhooks/webhook-attempts.ts";

/** What is kept for how long. A log without a limit is kept whole. */
export interface Retention {
  readonly receiptDays: number;
  /** How long an ended token can still be looked up. */
  readonly tokenDays: number;
  readonly usageDays: number;
  /** How long an ended claim can still be looked up. */
  readonly claimDays: number;
  /** How long an attempt to deliver to an endpoint can still be looked up. */
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
 * Takes away what is older than it has to be, in steps that each hold few locks and not for long:
 *
 *   a log:  say in its head how far it is trimmed ─► COMMIT ─► take those entries away
 *
 * In that order a reader is told to resync before anything is missing, and a crash in between leaves only work to do.
 */
export async function prune(
  db: Database,
  { receiptDays, tokenDays, usageDays, claimDays, attemptDays, logDays }: Retention,
): Promise<Pruned> {
  const receipts = await untilDone(db, (tx) => deleteOldReceipts(tx, receiptDays));
  const tokens = await untilDone(db, (tx) => deleteEndedTokens(tx, tokenDays, PRUNE_STEP));
  const usage = await untilDone(db, (tx) => deleteOldUsage(tx, usageDays));
  const claims = await untilDone(db, (tx) => deleteEndedClaims(tx, claimDays, PRUNE_STEP));
  const attempts = await untilDone(db, (tx) => deleteOldAttempts(tx, attemptDays));
  let entries = 0;
  if (logDays !== undefined) for (const start of await readLogStarts(db)) entries += await trimLog(db, start, logDays);
  return { receipts, tokens, usage, claims, attempts, entries };
}

async function trimLog(db: Database, { tenant, trimmedTo: from }: LogStart, days: number): Promise<number> {
  let trimmedTo = from;
  // Also what a process that ended in between has left.
  let deleted = await untilDone(db, (tx) => deleteEntries(tx, tenant, trimmedTo));
  for (;;) {
    const target = await readTrimTarget(db, { tenant, trimmedTo }, days);
    if (target === trimmedTo) return deleted;
    const reached = await transaction(db, (tx) => setTrimmed(tx, tenant, target));
    // Who is to be told of the rest comes first.
    if (reached === trimmedTo) return deleted;
    trimmedTo = reached;
    deleted += await untilDone(db, (tx) => deleteEntries(tx, tenant, reached));
  }
}

/** Step after step, each a transaction of its own, while it takes away as much as it may. */
async function untilDone(db: Database, step: (tx: Transaction) => Promise<number>): Promise<number> {
  let all = 0;
  for (;;) {
    const count = await transaction(db, async (tx) => ((await claimPruning(tx)) ? await step(tx) : 0));
    all += count;
    if (count < PRUNE_STEP) return all;
  }
}
