import type { Model, ModelTable } from "@holdfast/sdk/protocol";
import type { Transaction } from "../../../kernel/connection/transaction.ts";
import { readCatalog, readIndexes } from "../db/catalog.ts";
import type { AttachedTable, FieldColumn } from "../rules/attached-table.ts";
import { faultsOf } from "../rules/broken-table.ts";
import { compareModel, type Disagreement, missingIndexes } from "../rules/compare-model.ts";

/** An attached model that fits its table as it is now. */
export interface Compared {
  readonly columns: readonly FieldColumn[];
  /** What else is worth knowing, in sentences. */
  readonly notes: readonly string[];
}

/** Compares an attached model with its table as it is now. */
export async function compareWithCatalog(
  db: Transaction,
  table: AttachedTable,
  model: Model & { readonly table: ModelTable },
): Promise<Compared | Disagreement> {
  const { tables } = await readCatalog(db, table.sqlName === "" ? [] : [table.sqlName]);
  const found = tables.find(({ relation }) => relation === table.relation);
  if (!found) return { message: faultsOf(table)[0] ?? `${table.name} is gone.` };
  const fitting = compareModel(model, found);
  if ("message" in fitting) return fitting;
  const missing = missingIndexes(model, table.sqlName, found.columns, await readIndexes(db, table.relation));
  const said = missing.map(
    ({ field, statement }) =>
      `"${field}" has no index in the table, and Holdfast does not create indexes in tables of your own: run "${statement}".`,
  );
  return { columns: fitting.columns, notes: [...fitting.notes, ...said] };
}
