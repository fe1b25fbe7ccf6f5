import type { Field, FieldType } from "@holdfast/sdk/protocol";
import type { CatalogColumn, CatalogTable } from "./catalog-table.ts";
import { checkValues } from "./check-values.ts";
import { columnDefault } from "./column-default.ts";

export interface ColumnField {
  readonly field: Field;
  readonly notes: readonly string[];
}

const TYPES: ReadonlyMap<string, FieldType> = new Map([
  ...["text", "varchar", "bpchar", "char", "name", "citext", "uuid", "numeric"].map(
    (type) => [type, "string"] as const,
  ),
  // A timestamp without a time zone is no point in time.
  ...["timestamp", "date", "time", "timetz", "interval"].map((type) => [type, "string"] as const),
  ["timestamptz", "datetime"],
  ...["int2", "int4", "int8"].map((type) => [type, "integer"] as const),
  ["float4", "number"],
  ["float8", "number"],
  ["bool", "boolean"],
  ["json", "json"],
  ["jsonb", "json"],
]);

/** The field that a column becomes, or why it is left out. */
export function columnField(column: CatalogColumn, checks: CatalogTable["checks"]): ColumnField | { leftOut: string } {
  const leftOut = leftOutOf(column);
  if (leftOut !== undefined) return { leftOut };
  const values = valuesOf(column, checks);
  const type = typeOf(column, values);
  const isFilled = column.default !== null || column.identity !== null || column.generated !== null;
  const field: Field = {
    type,
    ...(type === "enum" && { values: [...(values ?? [])] }),
    ...(column.notNull ? !isFilled && { required: true } : { nullable: true }),
    ...rulesOf(column, type),
  };
  const value = columnDefault(column, field);
  return {
    field: value === undefined ? field : { ...field, default: value },
    notes: notesOf(column),
  };
}

function typeOf({ type, isArray, isObject }: CatalogColumn, values: readonly string[] | undefined): FieldType {
  if (isArray) return "array";
  if (values) return "enum";
  return isObject ? "json" : (TYPES.get(type) ?? "string");
}

const UUID = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
const DIGITS = "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?|[+-]?(Infinity|inf)|NaN";
const RANGES: ReadonlyMap<string, Pick<Field, "min" | "max">> = new Map([
  ["int2", { min: -(2 ** 15), max: 2 ** 15 - 1 }],
  ["int4", { min: -(2 ** 31), max: 2 ** 31 - 1 }],
]);

/** What the table refuses in any case, so that a client knows it before it queues the write. */
function rulesOf(
  { type, isArray, isObject, length, identity, generated }: CatalogColumn,
  of: FieldType,
): Partial<Field> {
  return {
    ...((generated !== null || identity === "always") && { writableBy: [] }),
    ...(isArray && !isObject && itemsOf(type)),
    ...(of === "string" && length !== null && { maxLength: length }),
    ...(of === "string" && type === "uuid" && { pattern: UUID }),
    ...(of === "string" && type === "numeric" && { pattern: DIGITS }),
    ...(of === "integer" && RANGES.get(type)),
  };
}

/** Items that are JSON themselves may be anything, and those of types that JSON lacks are strings. */
function itemsOf(type: string): Pick<Field, "items"> {
  const of = TYPES.get(type);
  if (of === "json") return {};
  return { items: of === "integer" || of === "number" || of === "boolean" ? of : "string" };
}

function valuesOf(
  { name, type, length, isArray, labels, domainChecks }: CatalogColumn,
  checks: CatalogTable["checks"],
) {
  if (isArray) return undefined;
  if (labels) return labels.length > 0 ? labels : undefined;
  // Not citext: its check lets the values through in any case.
  if (!["text", "varchar", "bpchar"].includes(type)) return undefined;
  const own = checks.filter(({ columns }) => columns.length === 1 && columns[0] === name);
  const definitions = [...own.map(({ definition }) => definition), ...domainChecks];
  const values = definitions.map(checkValues).find((found) => found !== undefined);
  // A shorter value of char(n) has blanks at its end in the row.
  return type === "bpchar" && values?.some((value) => value.length !== length) ? undefined : values;
}

function leftOutOf({ name, type, generated }: CatalogColumn): string | undefined {
  if (type === "bytea")
    return `${name} is bytea and left out: keep files in a file store, and their addresses in a text column.`;
  if (type === "tsvector") return `${name} is tsvector and left out: only Postgres can search in it.`;
  if (generated === "virtual")
    return `${name} is a virtual generated column and left out, because triggers do not see its value: make it a stored one.`;
  return undefined;
}

function notesOf({ name, type, isArray, isObject, labels }: CatalogColumn): readonly string[] {
  const of = isArray ? `${type}[]` : type;
  if (type === "int8") return [`${name} is ${of}: values beyond ±${Number.MAX_SAFE_INTEGER} are not exact.`];
  if (type === "numeric")
    return [
      isArray
        ? `${name} is ${of}: its items are strings with all their digits. For numbers, convert them with Number() in the app, or change the column to double precision[].`
        : `${name} is ${of}: its field is a string with all its digits. For a number, convert it with Number() in the app, or change the column to double precision.`,
    ];
  if (isObject || labels || TYPES.has(type)) return [];
  return [
    isArray
      ? `${name} is ${of}: its items are strings, as Postgres writes them.`
      : `${name} is ${of}: its field is a string, as Postgres writes it.`,
  ];
}
