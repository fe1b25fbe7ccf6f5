import { comparable, compareValues, type Json, type JsonObject, jsonEqual, ownValue } from "@holdfast/sdk/protocol";
import type { ListColumn } from "./list-column.ts";
import type { ListFilter } from "./list-filter.ts";

/**
 * Whether a record meets all of these filters, as the statement of a list judges it: a value that is absent, or of
 * another type than its field's, counts as none.
 */
export const meetsFilters = (filters: readonly ListFilter[], id: string, data: JsonObject): boolean =>
  filters.every((filter) => meets(filter, valueIn(filter.column, id, data)));

function meets(filter: ListFilter, value: Json | undefined): boolean {
  const type = filter.column.kind === "field" ? filter.column.type : "string";
  const own = comparable(type, value);
  const is = (one: Json) => own === comparable(type, one);
  switch (filter.operator) {
    case "null":
      return (own === undefined) === filter.value;
    case "in":
      return filter.values.some(is);
    case "contains":
      return type === "array" && Array.isArray(value) && value.some((item) => jsonEqual(item as Json, filter.value));
    case "eq":
      return is(filter.value);
    case "gt":
    case "gte":
    case "lt":
    case "lte": {
      const bound = comparable(type, filter.value);
      return own !== undefined && bound !== undefined && WITHIN[filter.operator](compareValues(own, bound));
    }
    case "not":
    case "notIn":
    case "startsWith":
      throw new Error(`The filter ${filter.operator} is only for lists.`);
  }
}

const WITHIN = {
  gt: (order: number) => order > 0,
  gte: (order: number) => order >= 0,
  lt: (order: number) => order < 0,
  lte: (order: number) => order <= 0,
} as const;

export function valueIn(column: ListColumn, id: string, data: JsonObject): Json | undefined {
  if (column.kind === "id") return id;
  return column.kind === "field" ? ownValue(data, column.name) : undefined;
}
