import { jsonEqual, type ModelSchema } from "@holdfast/sdk/protocol";
import type { Transaction } from "../../db/connection/transaction.ts";
import { readAttachments } from "../../db/tables/attachments.ts";
import { type Refusal, refuse } from "../../rules/refusal.ts";
import type { AttachedTable, FieldColumn } from "../../rules/tables/attached-table.ts";
import { checkAttachedModels } from "../../rules/tables/check-attached-models.ts";
import { hasTables } from "../../rules/tables/hosted-models.ts";
import { compareWithCatalog } from "../tables/compare-with-catalog.ts";

/** Attached models that a push changes, with the columns that they have then. */
export interface FollowedTables {
  readonly changed: readonly { readonly table: AttachedTable; readonly columns: readonly FieldColumn[] }[];
  /** In sentences. */
  readonly warnings: readonly string[];
}

const NONE: FollowedTables = { changed: [], warnings: [] };

/**
 * Checks the models with tables against the tables that are attached, and those that the push changes against the
 * catalog. Most tenants have none.
 */
export async function checkTables(
  tx: Transaction,
  tenant: number,
  before: ModelSchema,
  pushed: ModelSchema,
): Promise<FollowedTables | Refusal> {
  if (!hasTables(before.models) && !hasTables(pushed.models)) return NONE;
  const attached = await readAttachments(tx, tenant);
  const refusal = checkAttachedModels(pushed, attached);
  if (refusal) return refusal;
  const changed = Object.entries(pushed.models).flatMap(([name, model]) => {
    const was = Object.entries(before.models).find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1];
    const table = attached.find((one) => one.model === name.toLowerCase());
    // The command that attaches a table pushes the model that it made of the catalog.
    const isChanged = was?.table && !jsonEqual([was.fields, was.table] as never, [model.fields, model.table] as never);
    return table && model.table && isChanged ? [{ name, model: { ...model, table: model.table }, table }] : [];
  });
  const followed: FollowedTables["changed"][number][] = [];
  const warnings: string[] = [];
  for (const { name, model, table } of changed) {
    const compared = await compareWithCatalog(tx, table, model);
    if ("message" in compared) {
      const { part, message } = compared;
      return refuse("invalid_schema", { param: `models.${name}${part ? `.${part}` : ""}`, message });
    }
    followed.push({ table, columns: compared.columns });
    warnings.push(...compared.notes.map((note) => `"${name}": ${note}`));
  }
  return { changed: followed, warnings };
}
