import type { Json } from "@holdfast/sdk/protocol";
import { reading } from "../../connection/reading-table.ts";
import type { Transaction } from "../../connection/transaction.ts";
import type { ListColumn } from "../rules/list-column.ts";
import type { RecordRelation } from "./record-relation.ts";
import { columnOf, conditionsOf, type Param, type WantedRecords } from "./wanted-records.ts";

export interface ValueCounts {
  readonly values: readonly { readonly value: Json; readonly count: number }[];
  /** Whether there are more values, which fewer records have. */
  readonly hasMore: boolean;
}

export async function countRecords(db: Transaction, wanted: WantedRecords): Promise<number> {
  const { values, param } = parameters();
  const text = `select count(*)::int as count from ${wanted.relation.from} r where ${conditionsOf(wanted, param).join(" and ")}`;
  const { rows } = await reading(wanted.relation, () => db.query<{ count: number }>(text, values));
  return rows[0]?.count ?? 0;
}

/**
 * How many records have which value, the most frequent first. Of a list each item counts once for a record. `bytes`:
 * most of all values together; a single larger one still fits.
 */
export async function countValues(
  db: Transaction,
  wanted: WantedRecords,
  { column, most, bytes }: { readonly column: ListColumn; readonly most: number; readonly bytes: number },
): Promise<ValueCounts> {
  const { values, param } = parameters();
  const from = valuesSql(wanted.relation, column, param);
  const where = conditionsOf(wanted, param).join(" and ");
  const text = `select value::text as value, count, through <= ${param(bytes)}::bigint or through = size as fits from (
      select *, octet_length(value::text) as size,
        sum(octet_length(value::text)) over (order by count desc, value rows unbounded preceding) as through from (
        select value, count(*)::int as count from ${from} where ${where}
        group by value order by count desc, value limit ${param(most + 1)}::int) counted) sized order by count desc, sized.value`;
  const { rows } = await reading(wanted.relation, () =>
    db.query<{ value: string; count: number; fits: boolean }>(text, values),
  );
  const found = rows.filter(({ fits }) => fits).slice(0, most);
  return {
    values: found.map(({ value, count }) => ({ value: JSON.parse(value) as Json, count })),
    hasMore: found.length < rows.length,
  };
}

/** Records beside their `value` in a column, as `jsonb`: null if they have none, and each item of a list. */
function valuesSql(relation: RecordRelation, column: ListColumn, param: Param): string {
  const records = `${relation.from} r cross join lateral`;
  if (column.kind === "field" && column.type === "array") {
    const own = `data->${param(column.name)}::text`;
    return `${records} (select distinct item.value from jsonb_array_elements(
      case when json_typeof(${own}) = 'array' then (${own})::jsonb else '[null]' end) item) counted_by`;
  }
  const { expression } = columnOf(relation, column, param);
  const json = jsonOf(column, expression, param);
  return `${records} (select case when ${expression} is null then 'null' else ${json} end as value) counted_by`;
}

/** The value as a record has it. */
function jsonOf(column: ListColumn, expression: string, param: Param): string {
  switch (column.kind) {
    case "field":
      return `(data->${param(column.name)}::text)::jsonb`;
    case "id":
    case "createdBy":
    case "updatedBy":
    case "syncId":
      return `to_jsonb(${expression})`;
    case "createdAt":
    case "updatedAt":
    case "archivedAt":
      return `to_jsonb(to_char(${expression}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;
  }
}

function parameters(): { readonly values: unknown[]; readonly param: Param } {
  const values: unknown[] = [];
  return { values, param: (value) => `$${values.push(value)}` };
}
