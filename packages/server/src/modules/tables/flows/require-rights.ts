import { errorState, INSUFFICIENT_PRIVILEGE, LOCK_NOT_AVAILABLE } from "../../../kernel/connection/database-error.ts";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import { readTableRights } from "../db/attachments.ts";
import { missingRights, type TableTask } from "../rules/table-rights.ts";
import { TableError } from "./table-error.ts";

/** Throws if our role cannot do this with a table: nothing has been done then. */
export async function requireRights(db: Transaction, task: TableTask, relation: number): Promise<void> {
  const missing = missingRights(task, await readTableRights(db, relation));
  if (missing.length > 0) throw new TableError(missing.join("\n"));
}

/** Says in a sentence what stopped a task on the way: a privilege that was taken away meanwhile, or another's lock. */
export async function inSentences<T>(
  db: Transaction,
  task: TableTask,
  relation: number | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const state = errorState(error);
    if (state === INSUFFICIENT_PRIVILEGE) {
      if (relation !== undefined) await requireRights(db, task, relation);
      throw new TableError(
        `The database refused the command: ${(error as Error).message}. Run the command with the server's role.`,
      );
    }
    if (state === LOCK_NOT_AVAILABLE)
      throw new TableError(
        "A transaction holds a lock that this command needs: try again when the transaction has ended.",
      );
    throw error;
  }
}
