import { recordTable } from "../../schema/db/rewritten-records.ts";
import { columnSql, itemsSql, searchedSql } from "./record-column.ts";
import type { RecordRelation } from "./record-relation.ts";

/** Records that Holdfast keeps itself. `rewriting`: a push is rewriting some, which have their new form beside their row. */
export const hostedRelation = (rewriting: boolean, tenant: number): RecordRelation => ({
  from: recordTable(rewriting),
  table: undefined,
  idOrder: { expression: "id", type: "text" },
  column: columnSql,
  searched: searchedSql,
  text: () => undefined,
  equality: () => undefined,
  someItem: ({ name }, json, param) =>
    `${itemsSql(name, (text) => `${param(text)}::text`)} && array[${json.map((one) => `jsonb_hash_extended(${param(one)}::jsonb, ${tenant})`).join(", ")}]`,
  takesId: () => true,
});
