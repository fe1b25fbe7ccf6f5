import { SORTED_CHARACTERS } from "@holdfast/sdk/protocol";
import type { ListColumn, SortColumn } from "../../rules/lists/list-column.ts";

/** The SQL expression of a column of records, and its type. */
export interface ColumnSql {
  readonly expression: string;
  readonly type: string;
  /** Of a text: it is not cut to `TEXT_KEPT` characters. */
  readonly whole?: true;
}

/** Where the records of a model are, with the columns of `holdfast.record`, and how their fields are read. */
export interface RecordSource {
  /** SQL of the relation. */
  readonly from: string;
  /** What orders the records of a model, and tells them apart. */
  readonly idOrder: ColumnSql;
  column(column: SortColumn, written: Written): ColumnSql;
  /** The text of a column in the form in which words are searched. */
  searched(column: ListColumn, written: Written): string;
  /** The whole text of a field. Undefined: it is read from the JSON. */
  text(column: ListColumn): string | undefined;
  /** Undefined: values are compared as they are sorted. */
  equality(column: ListColumn): "text" | "uuid" | undefined;
}

/** Longer text is first compared by the prefix that `holdfast.text_of` keeps. */
export const TEXT_KEPT = SORTED_CHARACTERS;

/** Writes a text as a literal or as a parameter. */
export type Written = (text: string) => string;

/** `field` turns a field's name into a literal or a parameter: a name is never inserted into the SQL directly. */
export function columnSql(column: SortColumn, field: Written): ColumnSql {
  if (column.kind === "id") return { expression: "id", type: "text" };
  if (column.kind === "createdAt") return { expression: "created_at", type: "timestamptz" };
  if (column.kind === "updatedAt") return { expression: "updated_at", type: "timestamptz" };
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

/** The text of a column in the form in which words are searched. Ids are ASCII. */
export const searchedSql = (column: ListColumn, field: Written): string =>
  column.kind === "field" ? `(holdfast.searchable(data, ${field(column.name)}) collate "C")` : `lower(id collate "C")`;
