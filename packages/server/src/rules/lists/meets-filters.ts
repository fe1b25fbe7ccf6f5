import { isDateTime, type Json, type JsonObject, jsonEqual, ownValue } from "@holdfast/sdk/protocol";
import type { ListColumn } from "./list-column.ts";
import type { ListFilter } from "./list-filter.ts";

/**
 * Whether a record meets all of these filters, as the statement of a list judges it: a value that is absent, or of
 * another type than its field's, counts as none. Text is only compared for equality.
 */
export const meetsFilters = (filters: readonly ListFilter[], id: string, data: JsonObject): boolean =>
  filters.every((filter) => meets(filter, valueIn(filter.column, id, data)));

function meets(filter: ListFilter, value: Comparable | readonly Json[] | undefined): boolean {
  switch (filter.operator) {
    case "null":
      return (value === undefined) === filter.value;
    case "in":
      return filter.values.some((one) => value === (one === null ? undefined : comparable(filter.column, one)));
    case "contains":
      return Array.isArray(value) && value.some((item) => jsonEqual(item as Json, filter.value));
    case "eq":
      return value === comparable(filter.column, filter.value);
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return typeof value === "number" || typeof value === "bigint"
        ? WITHIN[filter.operator](value, comparable(filter.column, filter.value) as number | bigint)
        : false;
    case "not":
    case "notIn":
    case "startsWith":
      throw new Error(`The filter ${filter.operator} is only for lists.`);
  }
}

type Comparable = string | number | bigint | boolean;

const WITHIN = {
  gt: (value: number | bigint, bound: number | bigint) => value > bound,
  gte: (value: number | bigint, bound: number | bigint) => value >= bound,
  lt: (value: number | bigint, bound: number | bigint) => value < bound,
  lte: (value: number | bigint, bound: number | bigint) => value <= bound,
} as const;

function valueIn(column: ListColumn, id: string, data: JsonObject): Comparable | readonly Json[] | undefined {
  if (column.kind === "id") return id;
  if (column.kind !== "field") return undefined;
  const value = ownValue(data, column.name);
  if (column.type === "array") return Array.isArray(value) ? value : undefined;
  return value === null || value === undefined ? undefined : comparable(column, value);
}

/** Date-times are compared as instants. Undefined: not of the column's type. */
function comparable(column: ListColumn, value: Json): Comparable | undefined {
  switch (column.kind === "field" ? column.type : "string") {
    case "number":
    case "integer":
      return typeof value === "number" ? value : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "datetime":
      return typeof value === "string" && isDateTime(value) ? microsecondsOf(value) : undefined;
    default:
      return typeof value === "string" ? value : undefined;
  }
}

/** As precise as a timestamp of Postgres, which rounds half a microsecond to the even one. */
function microsecondsOf(text: string): bigint {
  const [, fraction = ""] = /\.(\d+)/.exec(text) ?? [];
  const seconds = BigInt(Date.parse(text.replace(/\.\d+/, ""))) * 1_000n;
  return seconds + BigInt(Math.round(Number(`0.${fraction || 0}`) * 1_000_000));
}
