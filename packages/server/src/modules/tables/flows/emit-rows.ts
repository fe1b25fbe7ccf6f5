import type { Database } from "../../../kernel/connection/pool.ts";
import { transaction } from "../../../kernel/connection/transaction.ts";
import { readAttachments, updateEmitted } from "../db/attachments.ts";
import { captureRows, readIdsWithoutLine } from "../db/captured-again.ts";
import { estimateRows, findTable } from "../db/table-rows.ts";
import { faultsOf } from "../rules/broken-table.ts";
import { requireRights } from "./require-rights.ts";
import { TableError } from "./table-error.ts";

export interface EmitOptions {
  /** Called after each page: how many rows are captured, of about how many. */
  progress?(done: number, about: number): void;
  readonly stopping?: AbortSignal;
}

const PAGE = 500;

/**
 * Captures the rows of a table that the log has not named yet, as if they had just been inserted: so each of them gets an
 * entry. Each page is a transaction, which stores how far it came: called again, it goes on there.
 */
export async function emitRows(
  pool: Database,
  tenant: number,
  model: string,
  { progress, stopping }: EmitOptions = {},
): Promise<void> {
  const attached = (await readAttachments(pool, tenant)).find((one) => one.model === model.toLowerCase());
  if (!attached) throw new TableError(`No table is attached to the "${model}" model.`);
  const found = await findTable(pool, attached);
  const [fault] = faultsOf(attached);
  if (!found || fault !== undefined) throw new TableError(fault ?? `${attached.name} is gone.`);
  await requireRights(pool, "repair", attached.relation);
  const about = await estimateRows(pool, attached.relation);
  for (let after: string | null = attached.emittedTo, done = 0, more = true; more; ) {
    stopping?.throwIfAborted();
    const from: string | null = after;
    const page = await transaction(pool, async (tx) => {
      const { ids, last, count } = await readIdsWithoutLine(tx, attached, found, from, PAGE);
      await captureRows(tx, attached, found, ids, "inserted");
      if (last !== undefined) await updateEmitted(tx, attached, last);
      return { last, count };
    });
    done += page.count;
    after = page.last ?? null;
    more = page.count === PAGE;
    progress?.(done, about);
  }
}
