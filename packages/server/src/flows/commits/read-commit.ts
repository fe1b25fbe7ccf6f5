import type { CommitReceipt } from "@holdfast/sdk/protocol";
import { loadReceipts } from "../../db/commits/receipts.ts";
import type { Database } from "../../db/connection/pool.ts";
import { isVisibleName } from "../../rules/commits/idempotency-key.ts";
import { sentReceipt } from "../../rules/commits/short-receipt.ts";
import type { StoredReceipt } from "../../rules/commits/tenant-state.ts";
import type { Refusal } from "../../rules/refusal.ts";
import { organizationGroup } from "../../rules/schema/sync-group.ts";
import type { Principal } from "../../rules/tokens/participant.ts";
import { checkModel, deny } from "../../rules/tokens/scope.ts";
import type { IsHidden } from "../log/read-record.ts";

/** Reads the receipt of a participant's commit. Undefined if no commit with this name is stored. */
export type ReadCommit = (
  reader: Principal,
  participant: string,
  name: string,
) => Promise<StoredReceipt | Refusal | undefined>;

/** A commit is stored under its `clientTxId` and its idempotency key. No two commits of a participant share a name. */
export const readCommit =
  (db: Database, isHidden: IsHidden): ReadCommit =>
  async (reader, participant, name) => {
    // Names with a space are keys of single operations, which have no receipt of their own.
    if (!isVisibleName(name)) return undefined;
    const { tenant } = reader;
    const { name: statement, text, values, read } = loadReceipts([{ tenant, participant, name }]);
    const { rows, command } = await db.query({ name: statement, text, values: [...values] });
    const [found] = read(rows, command);
    if (!found) return undefined;
    const receipt = { ...found, body: sentReceipt(found.kept ?? "", name) };
    return (found.conflicted ? await refusedTo(reader, receipt.body, isHidden) : undefined) ?? receipt;
  };

/** The receipt of a conflict has values of records, and another token of the participant may see less. */
async function refusedTo(reader: Principal, body: string, isHidden: IsHidden): Promise<Refusal | undefined> {
  const { notifications = [] } = JSON.parse(body) as CommitReceipt;
  for (const { model, id, group } of notifications) {
    // What has changed in a group is told to those who may read its model, without its name to others.
    const lacks = group === undefined ? await isHidden(reader, model, id) : id !== "" && checkModel(reader, model);
    if (lacks)
      return deny({ can: "read", model, syncGroup: organizationGroup(reader.organization) }, { param: "clientTxId" });
  }
  return undefined;
}
