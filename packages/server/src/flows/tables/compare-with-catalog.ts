import type { Model, ModelTable } from "@holdfast/sdk/protocol";
import type { Transaction } from "../../db/connection/transaction.ts";
import { readCatalog, readIndexes } from "../../db/tables/catalog.ts";
import type { AttachedTable, FieldColumn } from "../../rules/tables/attached-table.ts";
import { faultsOf } from "../../rules/tables/broken-table.ts";
import {
  compareModel,
  type Disagreement,
  type MissingIndex,
  missingIndexes,
} from "../../rules/tables/compare-model.ts";

/** An attached model as the catalog has it. */
export interface Compared {
  readonly columns: readonly FieldColumn[];
  readonly missingIndexes: readonly MissingIndex[];
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
  const columns = compareModel(model, found);
  if ("message" in columns) return columns;
  const indexes = await readIndexes(db, table.relation);
  return { columns, missingIndexes: missingIndexes(model, table.sqlName, found.columns, indexes) };
}
