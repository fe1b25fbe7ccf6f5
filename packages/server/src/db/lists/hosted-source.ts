import { recordTable } from "../schema/rewritten-records.ts";
import { columnSql, itemsSql, searchedSql } from "./record-column.ts";
import type { RecordSource } from "./record-source.ts";

/** Records that Holdfast keeps itself. `rewriting`: a push is rewriting some, which have their new form beside their row. */
export const hostedSource = (rewriting: boolean, tenant: number): RecordSource => ({
  from: recordTable(rewriting),
  table: undefined,
  leastBytes: "0",
  idOrder: { expression: "id", type: "text" },
  column: columnSql,
  searched: searchedSql,
  text: () => undefined,
  equality: () => undefined,
  someItem: ({ name }, json, param) =>
    `${itemsSql(name, (text) => `${param(text)}::text`)} && array[${json.map((one) => `jsonb_hash_extended(${param(one)}::jsonb, ${tenant})`).join(", ")}]`,
  takesId: () => true,
});
