import { setTimeout } from "node:timers/promises";
import { DEADLOCK, errorState, LOCK_NOT_AVAILABLE } from "../../../kernel/connection/database-error.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import { type Transaction, transaction } from "../../../kernel/connection/transaction.ts";
import { TableError } from "./table-error.ts";

export interface Patience {
  /** The work waits for a transaction that has locked what it needs. */
  waiting?(): void;
  readonly stopping?: AbortSignal;
}

/** A change of triggers waits for all that write to the table, and new writers wait behind it: so it gives up soon. */
const TRIGGER_WAIT_MS = 300;
/** The head is locked for a round at a time. Waiting for it does not hold up anyone else. */
const HEAD_WAIT_MS = 2_000;
const TRIES = 100;

/** With partitions there are several locks. */
const BUSY: ReadonlySet<string> = new Set([LOCK_NOT_AVAILABLE, DEADLOCK]);

/** Runs `work` in a transaction, again each time that it could not get a lock. */
export async function patiently<T>(
  pool: Database,
  { name }: { readonly name: string },
  { waiting, stopping }: Patience,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    stopping?.throwIfAborted();
    try {
      return await transaction(pool, async (tx) => {
        await tx.query(`set local lock_timeout = ${HEAD_WAIT_MS}`);
        return work(tx);
      });
    } catch (error) {
      if (!BUSY.has(errorState(error) ?? "")) throw error;
      if (tried === TRIES)
        throw new TableError(`A transaction still holds a lock on ${name}: try again when the transaction has ended.`);
      waiting?.();
      await setTimeout(TRIGGER_WAIT_MS);
    }
  }
}

/** From here on the transaction waits for a short time only. */
export async function hurry(tx: Transaction): Promise<void> {
  await tx.query(`set local lock_timeout = ${TRIGGER_WAIT_MS}`);
}
