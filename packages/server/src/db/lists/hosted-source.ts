import { recordTable } from "../schema/rewritten-records.ts";
import { columnSql, searchedSql } from "./record-column.ts";
import type { RecordSource } from "./record-source.ts";

/** Records that Holdfast keeps itself. `rewriting`: a push is rewriting some, which have their new form beside their row. */
export const hostedSource = (rewriting: boolean): RecordSource => ({
  from: recordTable(rewriting),
  table: undefined,
  idOrder: { expression: "id", type: "text" },
  column: columnSql,
  searched: searchedSql,
  text: () => undefined,
  equality: () => undefined,
  takesId: () => true,
});
