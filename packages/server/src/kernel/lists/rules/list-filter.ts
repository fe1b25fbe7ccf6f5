import { type Field, isDateTime, type Json, limits, type Model, ownValue } from "@holdfast/sdk/protocol";
import { checkJsonValues } from "../../json/check-json-values.ts";
import { roundedNumbers } from "../../json/rounded-numbers.ts";
import { isRefusal, type Refusal, refuse } from "../../refusal.ts";
import { type ListColumn, listColumn } from "./list-column.ts";
import { type SearchFilter, searchIn } from "./search.ts";

export type FilterValue = string | number | boolean;

/**
 * A condition that every record of a list meets. `null`: whether the record has no value in the column. A record without
 * a value is `not` any value, and `notIn` any list without null.
 */
export type ListFilter = { readonly column: ListColumn } & (
  | { readonly operator: Comparison | "not"; readonly value: FilterValue }
  | { readonly operator: "null"; readonly value: boolean }
  | { readonly operator: "in" | "notIn"; readonly values: readonly (FilterValue | null)[] }
  | { readonly operator: "startsWith"; readonly value: string }
  /** `value`: a part of a text. `json`: items of which an array has one, as JSON. */
  | { readonly operator: "contains"; readonly value: Json; readonly json: readonly string[] }
);

/** A field that holds lists or objects has one of these values, or none of them. They are JSON. */
export interface JsonFilter {
  readonly operator: "jsonIn" | "jsonNotIn";
  readonly column: ListColumn;
  readonly values: readonly string[];
}

/** All of these conditions hold, or at least one. */
export interface ConditionGroup {
  readonly operator: "and" | "or";
  readonly conditions: readonly ListCondition[];
}

/** What a list can be asked for. */
export type ListCondition = ListFilter | JsonFilter | SearchFilter | ConditionGroup;

type Leaf = Exclude<ListCondition, ConditionGroup>;

/** The conditions themselves, without the groups that they are in. */
export const conditionsIn = (conditions: readonly ListCondition[]): readonly Leaf[] =>
  conditions.flatMap((one): readonly Leaf[] => ("conditions" in one ? conditionsIn(one.conditions) : [one]));

const OPERATORS = [
  "eq",
  "gt",
  "gte",
  "lt",
  "lte",
  "null",
  "not",
  "in",
  "notIn",
  "contains",
  "startsWith",
  "search",
] as const;
export type Comparison = "eq" | "gt" | "gte" | "lt" | "lte";
type Operator = (typeof OPERATORS)[number];

/** A query parameter as text: `filter[order][gte]`, `3`. */
export type Parameter = readonly [name: string, value: string];

const SPELLED = new RegExp(`^filter\\[([^[\\]]*)\\](?:\\[(${OPERATORS.filter((one) => one !== "eq").join("|")})\\])?$`);
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * Parses filters from query parameters: `filter[<field>]=v`, `filter[<field>][gt]=v` or `<field>=v`, each at most once.
 */
export function readFilters(parameters: readonly Parameter[], model: Model): readonly ListCondition[] | Refusal {
  if (parameters.length > limits.listFilters)
    return refuse("invalid_value", {
      param: "filter",
      message: `A list can have up to ${limits.listFilters} filters.`,
    });
  const filters = new Map<string, ListCondition>();
  for (const [param, text] of parameters) {
    const { name, operator } = spelled(param);
    const column = operator && columnOf(name, operator, model);
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

/** An array has no order, but items. */
function columnOf(name: string, operator: Operator, model: Model): ListColumn | undefined {
  const field = ownValue(model.fields, name);
  if (operator === "contains" && field?.type === "array") return { kind: "field", name, type: "array" };
  return listColumn(name, model);
}

/** Parses a parameter's name. A bare name means equality. A malformed `filter[…]` has no operator. */
function spelled(param: string): { name: string; operator: Operator | undefined } {
  const [, name, operator = "eq"] = SPELLED.exec(param) ?? [];
  if (name !== undefined) return { name, operator: operator as Operator };
  return { name: param, operator: param.startsWith("filter[") ? undefined : "eq" };
}

function filterOf(column: ListColumn, operator: Operator, param: string, text: string): ListCondition | Refusal {
  switch (operator) {
    case "null": {
      const value = booleanOf(text);
      return value === undefined ? mistyped(param, "true or false") : { column, operator, value };
    }
    case "in":
    case "notIn": {
      const values = valuesFor(column, param, text);
      return isRefusal(values) ? values : { column, operator, values };
    }
    case "contains":
    case "startsWith":
    case "search": {
      const type = columnType(column);
      const isText = type === "string" || type === "enum";
      if (!isText && type !== "array")
        return refuse("invalid_type", {
          param,
          message: `"${operator}" works only on strings${operator === "contains" ? " and arrays" : ""}.`,
        });
      if (operator === "search") return searchIn([column], text, param);
      return operator === "contains"
        ? { column, operator, value: text, json: [JSON.stringify(text), itemOf(text)] }
        : { column, operator, value: text };
    }
    default: {
      const value = valueFor(column, param, text);
      return isRefusal(value) ? value : { column, operator, value };
    }
  }
}

/** The value that a text spells as JSON, or the text itself if that is none which a record can have. */
function itemOf(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(checkJsonValues(value, undefined, () => roundedNumbers(text)) ? text : value);
  } catch {
    return JSON.stringify(text);
  }
}

/** Of one list of values. */
export const MOST_VALUES = 100;

/** A JSON array of values of the column's type. */
function valuesFor(column: ListColumn, param: string, text: string): readonly (FilterValue | null)[] | Refusal {
  const wanted = `a JSON array of up to ${MOST_VALUES} values`;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return mistyped(param, wanted);
  }
  if (!Array.isArray(parsed) || parsed.length > MOST_VALUES) return mistyped(param, wanted);
  const unkept = checkJsonValues(parsed, param, () => roundedNumbers(text));
  if (unkept) return isTextual(column) ? mistyped(param, wanted) : { ...unkept, param };
  const values: (FilterValue | null)[] = [];
  for (const one of parsed as unknown[]) {
    const isText = typeof one === "string";
    // A number in quotes is no number.
    const value =
      one === null
        ? null
        : isText !== isTextual(column)
          ? mistyped(param, wanted)
          : valueFor(column, param, isText ? one : JSON.stringify(one));
    if (isRefusal(value)) return value;
    values.push(value as FilterValue | null);
  }
  return values;
}

const isTextual = (column: ListColumn): boolean => !["number", "integer", "boolean"].includes(columnType(column));

/** Parses a value for a column's type. Text is taken literally, everything else as JSON. */
function valueFor(column: ListColumn, param: string, text: string): string | number | boolean | Refusal {
  switch (columnType(column)) {
    case "number":
      return numberOf(param, text) ?? mistyped(param, "a number as in JSON");
    case "integer": {
      const value = numberOf(param, text);
      if (value === undefined || (!isRefusal(value) && !Number.isInteger(value)))
        return mistyped(param, "a whole number as in JSON");
      return isRefusal(value) || Number.isSafeInteger(value)
        ? value
        : refuse("invalid_value", { param, message: `"${param}" is beyond 2^53 - 1, where integers are not exact.` });
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

export const columnType = (column: ListColumn): Field["type"] =>
  column.kind === "field" ? column.type : TYPE_OF_FACT[column.kind];

const TYPE_OF_FACT = {
  id: "string",
  createdAt: "datetime",
  createdBy: "string",
  updatedAt: "datetime",
  updatedBy: "string",
  archivedAt: "datetime",
  syncId: "integer",
} as const;

/** Undefined: not a JSON number. Refusal: a number that no record can have. */
function numberOf(param: string, text: string): number | Refusal | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value: Json = Number(text);
  return checkJsonValues(value, param, () => roundedNumbers(text)) ?? value;
}

const booleanOf = (text: string): boolean | undefined =>
  text === "true" ? true : text === "false" ? false : undefined;

const mistyped = (param: string, wanted: string): Refusal =>
  refuse("invalid_type", { param, message: `"${param}" must be ${wanted}.` });
