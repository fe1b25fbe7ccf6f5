import type { FieldType } from "@holdfast/sdk/protocol";
import { ARCHIVED, isMoment } from "./archived-column.ts";
import type { FieldColumn, ValueForm } from "./attached-table.ts";

/** The types whose values are no strings in JSON; those of all other types are strings, or objects. */
const FIELD_TYPES: ReadonlyMap<string, readonly FieldType[]> = new Map<string, FieldType[]>([
  ["smallint", ["integer", "number"]],
  ["integer", ["integer", "number"]],
  ["bigint", ["integer", "number"]],
  ["real", ["number"]],
  ["double precision", ["number"]],
  ["numeric", ["string", "number"]],
  ["boolean", ["boolean"]],
  ["timestamp with time zone", ["datetime"]],
  ["json", ["json", "array"]],
  ["jsonb", ["json", "array"]],
]);
const OTHERS: readonly FieldType[] = ["string", "enum", "json"];

/** Whether a field of this type takes the values of a column of this SQL type: `numeric(10,2)`, `text[]`. */
export function takesColumn(declared: FieldType, sqlType: string): boolean {
  if (sqlType === "") return false;
  if (sqlType.endsWith("[]")) return declared === "array";
  return (FIELD_TYPES.get(bare(sqlType)) ?? OTHERS).includes(declared);
}

/** The same of an attached column, with the type that it has now. */
export const takesType = ({
  field,
  declared,
  type,
}: Pick<FieldColumn, "field" | "declared"> & { readonly type: string }) =>
  field === ARCHIVED ? isMoment(type) : takesColumn(declared, type);

/** How a column's value comes into a field of this type. */
export function formOf(declared: FieldType, sqlType: string): ValueForm {
  const type = bare(sqlType.replace(/(\[\])+$/, ""));
  if (declared === "number") return type.endsWith("int") || type === "integer" ? "json" : "number";
  if (type === "numeric") return "text";
  return declared === "datetime" ? "time" : "json";
}

/** Without what limits its values: `timestamp(3) with time zone` → `timestamp with time zone`. */
const bare = (sqlType: string): string => sqlType.replace(/\(.*?\)/, "");
