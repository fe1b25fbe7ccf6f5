import type { SortColumn } from "../rules/sort-column.ts";
import type { Transaction } from "./transaction.ts";

export interface ListQuestion {
  readonly world: number;
  readonly model: string;
  readonly state: "live" | "archived" | "all";
  readonly ids: readonly string[] | undefined;
  readonly sort: SortColumn;
  readonly descending: boolean;
  /** Where the page before ended: the sort value as Postgres spells it (null: none) and the id. */
  readonly after: PageEnd | undefined;
  readonly limit: number;
}

export interface PageEnd {
  readonly value: string | null;
  readonly id: string;
}

export interface ListedRecord {
  readonly id: string;
  readonly data: string;
  readonly archivedAt: string | null;
  readonly value: string | null;
}

/** One page in a total order: by the sort value with absent ones last, then by id. Names of fields travel as parameters. */
export async function listRecords(db: Transaction, question: ListQuestion): Promise<ListedRecord[]> {
  const { rows } = await db.query<ListedRecord & Record<string, unknown>>(listQuery(question));
  return rows;
}

function listQuery({ world, model, state, ids, sort, descending, after, limit }: ListQuestion) {
  const values: unknown[] = [world, model];
  const param = (value: unknown) => `$${values.push(value)}`;
  const { expression, type } = sortExpression(sort, param);
  const direction = descending ? "desc" : "asc";
  const beyond = descending ? "<" : ">";
  const where = ["world = $1", "model = $2"];
  if (state !== "all") where.push(`archived_at is ${state === "live" ? "" : "not "}null`);
  if (ids) where.push(`id = any(${param(ids)}::text[])`);
  if (after) {
    const id = param(after.id);
    if (sort.kind === "id") where.push(`id ${beyond} ${id}`);
    else if (after.value === null) where.push(`${expression} is null and id ${beyond} ${id}`);
    else {
      const value = `${param(after.value)}::text::${type}`;
      where.push(
        `(${expression} ${beyond} ${value} or (${expression} = ${value} and id ${beyond} ${id}) or ${expression} is null)`,
      );
    }
  }
  const order = sort.kind === "id" ? `id ${direction}` : `${expression} ${direction} nulls last, id ${direction}`;
  return {
    text: `select id, data, archived_at as "archivedAt", ${sort.kind === "id" ? "null" : `(${expression})::text`} as value
      from holdfast.record where ${where.join(" and ")} order by ${order} limit ${param(limit)}`,
    values,
  };
}

/** A value of another type than declared (a forced schema change leaves such rows) sorts like an absent one. */
function sortExpression(sort: SortColumn, param: (value: unknown) => string): { expression: string; type: string } {
  if (sort.kind === "id") return { expression: "id", type: "text" };
  if (sort.kind === "createdAt") return { expression: "created_at", type: "timestamptz" };
  if (sort.kind === "updatedAt") return { expression: "updated_at", type: "timestamptz" };
  const name = `${param(sort.name)}::text`;
  const when = (test: string, type: string) => ({
    expression: `case when ${test} then (data->>${name})::${type} end`,
    type,
  });
  switch (sort.type) {
    case "number":
    case "integer":
      return when(`json_typeof(data->${name}) = 'number'`, "float8");
    case "boolean":
      return when(`json_typeof(data->${name}) = 'boolean'`, "boolean");
    case "datetime":
      return when(`data->>${name} ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}'`, "timestamptz");
    case "string":
    case "enum":
    case "array":
    case "json":
      return {
        expression: `case when json_typeof(data->${name}) = 'string' then (data->>${name}) collate "C" end`,
        type: `text collate "C"`,
      };
  }
}
