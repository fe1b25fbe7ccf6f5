import { loadReceipts } from "../../db/commits/receipts.ts";
import type { Database } from "../../db/connection/pool.ts";
import { isVisibleName } from "../../rules/commits/idempotency-key.ts";
import { sentReceipt } from "../../rules/commits/short-receipt.ts";
import type { StoredReceipt } from "../../rules/commits/tenant-state.ts";

/** Reads the receipt of a participant's commit. Undefined if no commit with this name is stored. */
export type ReadCommit = (tenant: number, participant: string, name: string) => Promise<StoredReceipt | undefined>;

/** A commit is stored under its `clientTxId` and its idempotency key. No two commits of a participant share a name. */
export const readCommit =
  (db: Database): ReadCommit =>
  async (tenant, participant, name) => {
    // Names with a space are keys of single operations, which have no receipt of their own.
    if (!isVisibleName(name)) return undefined;
    const { name: statement, text, values, read } = loadReceipts([{ tenant, participant, name }]);
    const { rows, command } = await db.query({ name: statement, text, values: [...values] });
    const [found] = read(rows, command);
    return found && { ...found, body: sentReceipt(found.kept ?? "", name) };
  };
