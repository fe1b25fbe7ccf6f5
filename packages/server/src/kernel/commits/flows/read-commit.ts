import type { CommitReceipt } from "@holdfast/sdk/protocol";
import type { Database } from "../../connection/pool.ts";
import type { SeeRecord } from "../../log/flows/read-record.ts";
import { isRefusal, type Refusal } from "../../refusal.ts";
import { organizationGroup } from "../../schema/rules/sync-group.ts";
import type { Principal } from "../../tokens/rules/participant.ts";
import { checkModel, deny, isWithin } from "../../tokens/rules/scope.ts";
import { loadReceipts } from "../db/receipts.ts";
import { recordKey } from "../rules/commit-request.ts";
import { isVisibleName } from "../rules/idempotency-key.ts";
import { sentReceipt } from "../rules/short-receipt.ts";
import type { StoredReceipt } from "../rules/tenant-state.ts";

/** Reads the receipt of a participant's commit. Undefined if no commit with this name is stored. */
export type ReadCommit = (
  reader: Principal,
  participant: string,
  name: string,
) => Promise<StoredReceipt | Refusal | undefined>;

/** A commit is stored under its `clientTxId` and its idempotency key. No two commits of a participant share a name. */
export const readCommit =
  (db: Database, see: SeeRecord): ReadCommit =>
  async (reader, participant, name) => {
    // Names with a space are keys of single operations, which have no receipt of their own.
    if (!isVisibleName(name)) return undefined;
    const { tenant } = reader;
    const { name: statement, text, values, read } = loadReceipts([{ tenant, participant, name }]);
    const { rows, command } = await db.query({ name: statement, text, values: [...values] });
    const [found] = read(rows, command);
    if (!found) return undefined;
    const receipt = { ...found, body: sentReceipt(found.kept ?? "", name) };
    return (found.conflicted ? await refusedTo(reader, receipt.body, see) : undefined) ?? receipt;
  };

/**
 * The receipt of a conflict has values of records, and another token of the participant may see less. What is gone by now
 * cannot be judged: its values are told only to tokens for the whole organization.
 */
async function refusedTo(reader: Principal, body: string, see: SeeRecord): Promise<Refusal | undefined> {
  const { scope } = reader;
  if (!scope) return undefined;
  const { notifications = [] } = JSON.parse(body) as CommitReceipt;
  const known = new Map<string, Awaited<ReturnType<SeeRecord>>>();
  for (const { model, id, group, currentValues = {} } of notifications) {
    if (group !== undefined) {
      if (!isWithin(scope, [group]) || (id !== "" && checkModel(reader, model))) return denied("*", group);
      continue;
    }
    const key = recordKey(model, id);
    const found = known.get(key) ?? (await see(reader, model, id));
    known.set(key, found);
    if (isRefusal(found)) return found;
    const hasValues = Object.keys(currentValues).length > 0;
    if (found === "hidden" || (found === "gone" && hasValues && scope.groups !== undefined))
      return denied(model, organizationGroup(reader.organization));
  }
  return undefined;
}

const denied = (model: string, syncGroup: string): Refusal =>
  deny({ can: "read", model, syncGroup }, { param: "clientTxId" });
