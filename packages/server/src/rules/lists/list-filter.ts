import { isDateTime, type Json, limits, type Model } from "@holdfast/sdk/protocol";
import { checkJsonValues } from "../json/check-json-values.ts";
import { isRefusal, type Refusal, refuse } from "../refusal.ts";
import { type ListColumn, listColumn } from "./list-column.ts";

/** A condition that every record of a list meets. `null`: whether the record has no value in the column. */
export type ListFilter = { readonly column: ListColumn } & (
  | { readonly operator: Comparison; readonly value: string | number | boolean }
  | { readonly operator: "null"; readonly value: boolean }
);

const COMPARISONS = ["eq", "gt", "gte", "lt", "lte"] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** A query parameter as text: `filter[order][gte]`, `3`. */
export type Parameter = readonly [name: string, value: string];

const SPELLED = /^filter\[([^[\]]*)\](?:\[(gt|gte|lt|lte|null)\])?$/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * Parses filters from query parameters: `filter[<field>]=v`, `filter[<field>][gt]=v` or `<field>=v`, each at most once.
 */
export function readFilters(parameters: readonly Parameter[], model: Model): readonly ListFilter[] | Refusal {
  if (parameters.length > limits.listFilters)
    return refuse("invalid_value", {
      param: "filter",
      message: `A list can have up to ${limits.listFilters} filters.`,
    });
  const filters = new Map<string, ListFilter>();
  for (const [param, text] of parameters) {
    const { name, operator } = spelled(param);
    const column = operator && listColumn(name, model);
    if (!operator || !column) return refuse("unknown_column", { param: param.slice(0, 100) });
    const key = `${name} ${operator}`;
    if (filters.has(key)) return refuse("invalid_value", { param, message: `"${param}" must appear only once.` });
    const filter = filterOf(column, operator, param, text);
    if (isRefusal(filter)) return filter;
    filters.set(key, filter);
  }
  // In a fixed order, so that a cursor does not depend on the order of the parameters.
  return [...filters].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, filter]) => filter);
}

/** Parses a parameter's name. A bare name means equality. A malformed `filter[…]` has no operator. */
function spelled(param: string): { name: string; operator: Comparison | "null" | undefined } {
  const [, name, operator = "eq"] = SPELLED.exec(param) ?? [];
  if (name !== undefined) return { name, operator: operator as Comparison | "null" };
  return { name: param, operator: param.startsWith("filter[") ? undefined : "eq" };
}

function filterOf(
  column: ListColumn,
  operator: Comparison | "null",
  param: string,
  text: string,
): ListFilter | Refusal {
  if (operator === "null") {
    const value = booleanOf(text);
    return value === undefined ? mistyped(param, "true or false") : { column, operator, value };
  }
  const value = valueFor(column, param, text);
  return isRefusal(value) ? value : { column, operator, value };
}

/** Parses a value for a column's type. Text is taken literally, everything else as JSON. */
function valueFor(column: ListColumn, param: string, text: string): string | number | boolean | Refusal {
  switch (typeOf(column)) {
    case "number":
      return numberOf(param, text) ?? mistyped(param, "a number as in JSON");
    case "integer": {
      const value = numberOf(param, text);
      return value === undefined || (!isRefusal(value) && !Number.isInteger(value))
        ? mistyped(param, "a whole number as in JSON")
        : value;
    }
    case "boolean":
      return booleanOf(text) ?? mistyped(param, "true or false");
    case "datetime":
      return isDateTime(text) ? text : mistyped(param, "an RFC 3339 date-time (in a URL, write + as %2B)");
    case "string":
    case "enum":
    case "array":
    case "json":
      return text;
  }
}

const typeOf = (column: ListColumn) =>
  column.kind === "field" ? column.type : column.kind === "id" ? "string" : "datetime";

/** Undefined: not a JSON number. Refusal: a number that no record can have. */
function numberOf(param: string, text: string): number | Refusal | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value: Json = Number(text);
  return checkJsonValues(value, param) ?? value;
}

const booleanOf = (text: string): boolean | undefined =>
  text === "true" ? true : text === "false" ? false : undefined;

const mistyped = (param: string, wanted: string): Refusal =>
  refuse("invalid_type", { param, message: `"${param}" must be ${wanted}.` });
