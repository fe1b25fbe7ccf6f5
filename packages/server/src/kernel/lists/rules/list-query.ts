import {
  comparable,
  expectedValue,
  type Field,
  fits,
  isScalar,
  type Json,
  limits,
  type Model,
  ownValue,
} from "@holdfast/sdk/protocol";
import { isRefusal, type Refusal, refuse } from "../../refusal.ts";
import { type AskedCursor, readCursor } from "./asked-cursor.ts";
import type { ListColumn, SortColumn } from "./list-column.ts";
import { conditionsIn, type FilterValue, type JsonFilter, type ListCondition, MOST_VALUES } from "./list-filter.ts";
import { type ListOrder, listOrder, tooManyKeys } from "./list-order.ts";
import { readSearch, searchIn } from "./search.ts";

/*
 * Judges a query in JSON as a client judges its own queries (`api/lists` of the SDK): what one refuses the other does,
 * with the same code and `param`.
 */

/** The body of a query, of which only the keys are known. */
export type QueryBody = Readonly<Record<string, unknown>>;

export interface QueryPage {
  readonly limit: number;
  readonly state: "live" | "archived" | "all";
  readonly cursor: AskedCursor | undefined;
  /** Whether the caller asks how many records there are on all pages together. */
  readonly count: boolean;
}

export interface ListQuery {
  readonly filters: readonly ListCondition[];
  readonly order: ListOrder;
  /** By whose values the records are counted. */
  readonly countBy: ListColumn | undefined;
}

/** The current name of a field, by the caller's. Null: the caller knows a field that is gone. */
export type NameIn = (name: string) => string | null;

const KEYS = [
  "where",
  "search",
  "orderBy",
  "order",
  "limit",
  "archived",
  "count",
  "countBy",
  "starting_after",
  "ending_before",
];
const STATES = { without: "live", only: "archived", with: "all" } as const;

/** What a query says besides its conditions and its order. */
export function readQueryPage(body: unknown): QueryPage | Refusal {
  if (!isObject(body)) return refuse("invalid_body", { message: "The body must be a JSON object." });
  const unknown = unknownKey(body, KEYS, "");
  if (unknown) return unknown;
  const { limit = limits.listDefault, archived = "without", count = false, countBy } = body;
  if (typeof count !== "boolean") return mustBe("count", "true or false", count);
  // Who counts need not read.
  const least = count || countBy !== undefined ? 0 : 1;
  if (!Number.isInteger(limit) || (limit as number) < least || (limit as number) > limits.listMax)
    return refuse("invalid_limit", {
      param: "limit",
      message: `limit must be a whole number from 1 to ${limits.listMax}, or 0 with count or countBy (got ${typeof limit === "number" ? limit : kindOf(limit)}).`,
    });
  const state = typeof archived === "string" ? ownValue(STATES, archived) : undefined;
  if (!state) return oneOf("archived", Object.keys(STATES), archived);
  const cursor = readCursor(body);
  if (isRefusal(cursor)) return cursor;
  return { limit: limit as number, state, cursor, count };
}

/** The conditions and the order of a query. */
export function readListQuery(body: QueryBody, model: Model, nameIn: NameIn): ListQuery | Refusal {
  const judge = { model, nameIn };
  const { where = {}, search } = body;
  const filters = conditionsOf(judge, where, "where", 0);
  if (isRefusal(filters)) return filters;
  const tooMany = countedIn(filters);
  if (tooMany) return tooMany;
  const searched = search === undefined ? [] : searchOf(search, model);
  if (isRefusal(searched)) return searched;
  const order = orderOf(judge, body);
  if (isRefusal(order)) return order;
  const countBy = body.countBy === undefined ? undefined : countedBy(judge, body.countBy);
  if (isRefusal(countBy)) return countBy;
  return { filters: [...filters, ...searched], order, countBy };
}

function countedBy(judge: Judge, name: unknown): ListColumn | Refusal {
  const found = fieldOf(judge, name, "countBy");
  if (isRefusal(found)) return found;
  return found.field.type === "json"
    ? refuse("invalid_value", { param: "countBy", message: "A field of type json cannot be counted by." })
    : found.column;
}

function searchOf(search: unknown, model: Model): readonly ListCondition[] | Refusal {
  if (typeof search !== "string") return mustBe("search", expectedValue(TEXT), search);
  const found = readSearch(search, model);
  return isRefusal(found) ? found : [found];
}

/** Bounds what one statement compares each record with. */
function countedIn(filters: readonly ListCondition[]): Refusal | undefined {
  if (countOf(filters) > limits.queryConditions)
    return refuse("invalid_value", {
      param: "where",
      message: `A query can have up to ${limits.queryConditions} conditions.`,
    });
  const values = conditionsIn(filters).reduce((sum, one) => sum + valuesIn(one), 0);
  if (values > limits.queryValues)
    return refuse("invalid_value", {
      param: "where",
      message: `The conditions of a query can have up to ${limits.queryValues} values.`,
    });
  return undefined;
}

/** A group without conditions counts as one, so that there are not many of them either. */
const countOf = (conditions: readonly ListCondition[]): number =>
  conditions.reduce((sum, one) => sum + ("conditions" in one ? Math.max(1, countOf(one.conditions)) : 1), 0);

function valuesIn(condition: ReturnType<typeof conditionsIn>[number]): number {
  if ("words" in condition) return condition.words.length;
  return "values" in condition ? condition.values.length : 1;
}

interface Judge {
  readonly model: Model;
  readonly nameIn: NameIn;
}

interface Found {
  readonly column: ListColumn;
  /** A record without a value has null, also if its field cannot be null. */
  readonly field: Field;
}

const TEXT: Field = { type: "string" };
const TIME: Field = { type: "datetime" };
const ANYTHING: Field = { type: "json", nullable: true };

/** What can be asked of every record. A field cannot have these names, except for `id`. */
const FACTS: Readonly<Record<string, { readonly column: ListColumn; readonly field: Field }>> = {
  id: { column: { kind: "id" }, field: TEXT },
  $createdAt: { column: { kind: "createdAt" }, field: TIME },
  $updatedAt: { column: { kind: "updatedAt" }, field: TIME },
  $archivedAt: { column: { kind: "archivedAt" }, field: TIME },
  $createdBy: { column: { kind: "createdBy" }, field: TEXT },
  $updatedBy: { column: { kind: "updatedBy" }, field: TEXT },
  $syncId: { column: { kind: "syncId" }, field: { type: "integer" } },
};

/** Undefined: the caller knows no field of that name. */
function declared({ model, nameIn }: Judge, name: string): Found | undefined {
  const fact = ownValue(FACTS, name);
  if (fact) return fact;
  const now = nameIn(name);
  const field = now === null ? undefined : ownValue(model.fields, now);
  return field && { column: { kind: "field", name: now as string, type: field.type }, field };
}

function fieldOf(judge: Judge, name: unknown, param: string): Found | Refusal {
  const found = typeof name === "string" ? declared(judge, name) : undefined;
  if (found) return { ...found, field: { ...found.field, nullable: true } };
  return refuse("unknown_field", { param: cut(param), message: "The model has no such field." });
}

function conditionsOf(judge: Judge, given: unknown, param: string, depth: number): readonly ListCondition[] | Refusal {
  if (!isObject(given)) return mustBe(param, "an object", given);
  const found: (readonly [key: string, condition: ListCondition])[] = [];
  for (const [name, wanted] of Object.entries(given)) {
    const at = `${param}.${name}`;
    // A field of that name is meant rather than the word.
    const isWord = (name === "and" || name === "or") && !declared(judge, name);
    const some = isWord ? groupOf(judge, name, wanted, at, depth + 1) : testsOf(judge, name, wanted, at);
    if (isRefusal(some)) return some;
    found.push(...some.map((one) => [`${name} ${one.operator}`, one] as const));
  }
  // In a fixed order, so that a cursor does not depend on the order of the keys.
  return found.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, condition]) => condition);
}

function groupOf(
  judge: Judge,
  operator: "and" | "or",
  wanted: unknown,
  param: string,
  depth: number,
): readonly ListCondition[] | Refusal {
  if (depth > limits.queryDepth)
    return refuse("invalid_value", {
      param: cut(param),
      message: `Conditions can be nested in up to ${limits.queryDepth} levels of "and" and "or".`,
    });
  if (!Array.isArray(wanted)) return mustBe(param, "a list", wanted);
  const conditions: ListCondition[] = [];
  for (const [i, one] of wanted.entries()) {
    const parts = conditionsOf(judge, one, `${param}[${i}]`, depth);
    if (isRefusal(parts)) return parts;
    conditions.push(
      ...(operator === "and" || parts.length === 1 ? parts : [{ operator: "and", conditions: parts } as const]),
    );
  }
  return [{ operator, conditions }];
}

const OPERATORS = ["contains", "not", "in", "notIn", "gt", "gte", "lt", "lte", "startsWith", "search"] as const;
type Operator = (typeof OPERATORS)[number];

const isText = ({ type }: Field): boolean => type === "string" || type === "enum";

const OF_TEXT: ReadonlySet<string> = new Set(["contains", "startsWith", "search"]);
const OF_LISTS: ReadonlySet<string> = new Set(["contains", "not", "in", "notIn"]);

function operatorsOf(field: Field): readonly string[] {
  if (field.type === "array") return OPERATORS.filter((operator) => OF_LISTS.has(operator));
  if (isText(field) || field.type === "json") return OPERATORS;
  return OPERATORS.filter((operator) => !OF_TEXT.has(operator));
}

/** A condition on one field, which is a value or an object of operators. */
function testsOf(judge: Judge, name: string, wanted: unknown, param: string): readonly ListCondition[] | Refusal {
  const found = fieldOf(judge, name, param);
  if (isRefusal(found)) return found;
  const operators = operatorsIn(wanted, found, param);
  if (isRefusal(operators)) return operators;
  if (!operators) {
    const equal = equalTo(found, wanted, param, true);
    return isRefusal(equal) ? equal : [equal];
  }
  const conditions: ListCondition[] = [];
  for (const [operator, operand] of operators) {
    const one = testOf(found, operator, operand, `${param}.${operator}`);
    if (isRefusal(one)) return one;
    conditions.push(one);
  }
  return conditions;
}

/** Undefined: it is a value. Any object that is no operators is an error, unless the field holds objects. */
function operatorsIn(
  wanted: unknown,
  { field }: Found,
  param: string,
): readonly (readonly [Operator, unknown])[] | Refusal | undefined {
  if (!isObject(wanted)) return undefined;
  const known = operatorsOf(field);
  const operators = Object.entries(wanted);
  if (operators.length > 0 && operators.every(([name]) => known.includes(name)))
    return operators as (readonly [Operator, unknown])[];
  return field.type === "json" ? undefined : mustBe(param, `a value, or have operators: ${known.join(", ")}`, wanted);
}

function testOf(found: Found, operator: Operator, operand: unknown, param: string): ListCondition | Refusal {
  const { column, field } = found;
  switch (operator) {
    case "not":
      return equalTo(found, operand, param, false);
    case "in":
    case "notIn":
      if (!Array.isArray(operand)) return mustBe(param, "a list", operand);
      if (operand.length > MOST_VALUES)
        return refuse("invalid_value", {
          param: cut(param),
          message: `${cut(param)} can have up to ${MOST_VALUES} values (got ${operand.length}).`,
        });
      return among(found, operand, param, operator === "in");
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      if (field.type === "json") return notOfJson(param, operator);
      if (comparable(field.type, operand) === undefined)
        return mustBe(param, expectedValue({ ...field, nullable: false }), operand);
      return { column, operator, value: operand as FilterValue };
    case "contains": {
      const part = isText(field) ? TEXT : field.items ? { type: field.items } : ANYTHING;
      const value = operandOf(part, operand, param);
      return isRefused(value) ? value.refused : { column, operator, value: value.of, json: [JSON.stringify(value.of)] };
    }
    case "startsWith": {
      const value = operandOf(TEXT, operand, param);
      return isRefused(value) ? value.refused : { column, operator, value: value.of as string };
    }
    case "search": {
      if (field.type === "json") return notOfJson(param, operator);
      const value = operandOf(TEXT, operand, param);
      return isRefused(value) ? value.refused : searchIn([column], value.of as string, param);
    }
  }
}

/** The record has this value, or it has not. */
function equalTo({ column, field }: Found, operand: unknown, param: string, isEqual: boolean): ListCondition | Refusal {
  const found = operandOf(field, operand, param);
  if (isRefused(found)) return found.refused;
  if (!isScalar(field)) return ofJson(column, [found.of], isEqual);
  const value = found.of as FilterValue | null;
  if (value === null) return { column, operator: "null", value: isEqual };
  return { column, operator: isEqual ? "eq" : "not", value };
}

/** The record has one of these values, or none of them. */
function among(
  { column, field }: Found,
  operands: readonly unknown[],
  param: string,
  isIn: boolean,
): ListCondition | Refusal {
  const values: Json[] = [];
  for (const [i, operand] of operands.entries()) {
    const value = operandOf(field, operand, `${param}[${i}]`);
    if (isRefused(value)) return value.refused;
    values.push(value.of);
  }
  if (!isScalar(field)) return ofJson(column, values, isIn);
  return { column, operator: isIn ? "in" : "notIn", values: values as (FilterValue | null)[] };
}

const ofJson = (column: ListColumn, values: readonly Json[], isIn: boolean): JsonFilter => ({
  ...{ column, operator: isIn ? "jsonIn" : "jsonNotIn" },
  values: values.map((value) => JSON.stringify(value)),
});

/** A JSON value may look like a refusal, so it is wrapped. */
type Operand = { readonly of: Json } | { readonly refused: Refusal };
const isRefused = (operand: Operand): operand is { readonly refused: Refusal } => "refused" in operand;

/** A value that a field could have. No record could have another one. */
const operandOf = (field: Field, operand: unknown, param: string): Operand =>
  fits(field, operand as Json) ? { of: operand as Json } : { refused: mustBe(param, expectedValue(field), operand) };

const notOfJson = (param: string, operator: string): Refusal =>
  refuse("invalid_value", {
    param: cut(param),
    message: `A field of type json cannot be filtered with "${operator}" over HTTP.`,
  });

const DIRECTIONS = ["asc", "desc"];

function orderOf(judge: Judge, { orderBy = "id", order = "asc" }: QueryBody): ListOrder | Refusal {
  if (!DIRECTIONS.includes(order as string)) return oneOf("order", DIRECTIONS, order);
  const isSeveral = typeof orderBy !== "string";
  if (isSeveral && !Array.isArray(orderBy)) return mustBe("orderBy", "a list", orderBy);
  const asked: readonly unknown[] = isSeveral ? orderBy : [orderBy];
  if (asked.length > limits.sortKeys) return tooManyKeys("orderBy");
  const keys: { column: SortColumn; descending: boolean }[] = [];
  for (const [i, one] of asked.entries()) {
    const key = sortKeyOf(judge, one, isSeveral ? `orderBy[${i}]` : "orderBy", order as string);
    if (isRefusal(key)) return key;
    keys.push(key);
  }
  return listOrder(keys, order === "desc");
}

function sortKeyOf(
  judge: Judge,
  given: unknown,
  param: string,
  order: string,
): { readonly column: SortColumn; readonly descending: boolean } | Refusal {
  const key = typeof given === "string" ? { field: given } : given;
  if (!isObject(key)) return mustBe(param, "an object", key);
  const unknown = unknownKey(key, ["field", "order", "by"], `${param}.`);
  if (unknown) return unknown;
  const { field: name, order: own = order, by } = key;
  if (!DIRECTIONS.includes(own as string)) return oneOf(`${param}.order`, DIRECTIONS, own);
  const found = fieldOf(judge, name, param);
  if (isRefusal(found)) return found;
  const { column, field } = found;
  if (!isScalar(field))
    return refuse("invalid_value", {
      param,
      message: `A field of type ${field.type} cannot be sorted by.`,
    });
  const descending = own === "desc";
  if (by === undefined) return { column, descending };
  const values = by === "values" && column.kind === "field" ? field.values : undefined;
  if (!values || column.kind !== "field") return mustBe(`${param}.by`, `"values", of an enum`, by);
  return { column: { kind: "rank", name: column.name, values }, descending };
}

const isObject = (value: unknown): value is QueryBody =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function unknownKey(given: QueryBody, known: readonly string[], start: string): Refusal | undefined {
  const key = Object.keys(given).find((one) => !known.includes(one));
  if (key === undefined) return undefined;
  return refuse("unknown_field", {
    param: cut(start + key),
    message: `The query has an unknown key. Known keys: ${known.join(", ")}.`,
  });
}

const oneOf = (param: string, values: readonly string[], got: unknown): Refusal =>
  mustBe(param, `one of ${values.join(", ")}`, got);

/** The error for a value that is another than it must be. */
const mustBe = (param: string, what: string, got: unknown): Refusal =>
  refuse("invalid_value", { param: cut(param), message: `${cut(param)} must be ${what} (got ${kindOf(got)}).` });

/** Values are left out of messages: a caller may show these to others. */
const kindOf = (value: unknown): string =>
  Array.isArray(value) ? "a list" : value === null ? "null" : value === undefined ? "nothing" : typeof value;

/** Keys of a body may have any length. */
const cut = (param: string): string => param.slice(0, 200);
