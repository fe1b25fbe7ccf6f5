import { loadReceipts } from "../../db/commits/receipts.ts";
import type { Database } from "../../db/connection/pool.ts";
import { isVisibleName } from "../../rules/commits/idempotency-key.ts";
import type { StoredReceipt } from "../../rules/commits/tenant-state.ts";

/** What a participant's commit was answered with; undefined when no commit of that name is remembered. */
export type ReadCommit = (tenant: number, participant: string, name: string) => Promise<StoredReceipt | undefined>;

/** A commit is known by its `clientTxId` and by its key, and no two commits of a participant share a name. */
export const readCommit =
  (db: Database): ReadCommit =>
  async (tenant, participant, name) => {
    // Names with a space are the keys of single operations, which have no receipt of their own.
    if (!isVisibleName(name)) return undefined;
    const { name: statement, text, values, read } = loadReceipts([{ tenant, participant, name }]);
    const { rows, command } = await db.query({ name: statement, text, values: [...values] });
    return read(rows, command)[0];
  };
