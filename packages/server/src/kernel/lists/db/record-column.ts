import { SORTED_CHARACTERS } from "@holdfast/sdk/protocol";
import type { ListColumn, SortColumn } from "../rules/list-column.ts";
import type { ColumnSql, Written } from "./record-relation.ts";

/** Longer text is first compared by the prefix that `holdfast.text_of` keeps. */
export const TEXT_KEPT = SORTED_CHARACTERS;

/** `field` turns a field's name into a literal or a parameter: a name is never inserted into the SQL directly. */
export function columnSql(column: SortColumn, field: Written): ColumnSql {
  if (column.kind === "id") return { expression: "id", type: "text" };
  if (column.kind === "createdAt") return { expression: "created_at", type: "timestamptz" };
  if (column.kind === "updatedAt") return { expression: "updated_at", type: "timestamptz" };
  if (column.kind === "archivedAt") return { expression: "archived_at", type: "timestamptz" };
  if (column.kind === "syncId") return { expression: "sync_id", type: "int8" };
  if (column.kind === "createdBy") return { expression: `(created_by collate "C")`, type: "text" };
  if (column.kind === "updatedBy") return { expression: `(updated_by collate "C")`, type: "text" };
  if (column.kind === "rank") {
    const values = column.values.map((value) => field([...value].slice(0, TEXT_KEPT).join("")));
    return {
      expression: `array_position(array[${values.join(", ")}], holdfast.text_of(data, ${field(column.name)}))`,
      type: "int4",
    };
  }
  const read = (reader: string) => `holdfast.${reader}(data, ${field(column.name)})`;
  switch (column.type) {
    case "number":
    case "integer":
      return { expression: read("number_of"), type: "float8" };
    case "boolean":
      return { expression: read("boolean_of"), type: "boolean" };
    case "datetime":
      return { expression: read("instant_of"), type: "timestamptz" };
    case "string":
    case "enum":
    case "array":
    case "json":
      return { expression: `(${read("text_of")} collate "C")`, type: "text" };
  }
}

/** The text of a column in the form in which words are searched. */
export const searchedSql = (column: ListColumn, field: Written): string =>
  column.kind === "field"
    ? `(holdfast.searchable(data, ${field(column.name)}) collate "C")`
    : `(holdfast.folded(${columnSql(column, field).expression}) collate "C")`;

/** What tells the items of a list apart, with which an index finds them. */
export const itemsSql = (name: string, field: Written): string => `holdfast.items_of(data, ${field(name)}, tenant)`;
