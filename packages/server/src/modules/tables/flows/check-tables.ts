import { jsonEqual, type ModelSchema } from "@holdfast/sdk/protocol";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { ModelsPush, TakenModels } from "../../../kernel/schema/flows/push-schema.ts";
import { readAttachments, replaceColumns, updateGroupRules } from "../db/attachments.ts";
import type { AttachedTable, FieldColumn } from "../rules/attached-table.ts";
import { checkAttachedModels } from "../rules/check-attached-models.ts";
import { compareWithCatalog } from "./compare-with-catalog.ts";
import { tablePlaces } from "./table-places.ts";

/**
 * Checks the models with tables against the tables that are attached, and those that the push changes against the
 * catalog. Most tenants have none.
 */
export async function checkTables(
  tx: Transaction,
  { tenant, before, pushed }: ModelsPush,
): Promise<TakenModels | Refusal | undefined> {
  if (!hasTables(before) && !hasTables(pushed)) return undefined;
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
  const followed: { readonly table: AttachedTable; readonly columns: readonly FieldColumn[] }[] = [];
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
  return {
    warnings,
    rewritten: followed.map(({ table }) => table.model),
    async stored(upTo) {
      await updateGroupRules(tx, tenant, pushed.models);
      for (const { table, columns } of followed) await replaceColumns(tx, table, columns, upTo);
    },
  };
}

const hasTables = ({ models }: ModelSchema): boolean => Object.values(models).some(tablePlaces.has);
