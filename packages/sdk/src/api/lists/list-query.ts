import { tableOf } from "../../core/log/tables.ts";
import { knownFailure } from "../../core/queue/failure.ts";
import { SyncError } from "../../errors.ts";
import type { Row } from "../../protocol/commits/apply.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { jsonEqual } from "../../protocol/json-equal.ts";
import type { Field, Model } from "../../protocol/schema/model-schema.ts";
import type { ShowRow } from "./shown-rows.ts";

/** A query on any model. */
export interface AnyQuery {
  readonly where?: Readonly<Record<string, unknown>> | undefined;
  readonly orderBy?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly limit?: number | undefined;
  readonly archived?: "without" | "only" | "with" | undefined;
}

/** A query, compiled to run on each row. */
export interface ListQuery {
  readonly table: string;
  readonly limit: number;
  /** The row as the app receives it. */
  show(row: Row): Row;
  matches(row: Row): boolean;
  /** A total order: no two records are equal. */
  compare(a: JsonObject, b: JsonObject): number;
  sorted(records: readonly JsonObject[]): JsonObject[];
}

/** Compiles a query. Throws for an invalid one, which would otherwise look like an empty list. */
export function listQuery(
  model: string,
  query: AnyQuery,
  schema: Model | undefined,
  show: ShowRow = (_, row) => row,
): ListQuery {
  const { where = {}, orderBy = "id", order = "asc", limit = Number.POSITIVE_INFINITY, archived = "without" } = query;
  const fieldOf = (field: string, param: string) => checkField(model, schema, field, param);
  const tests = Object.entries(where).map(([field, wanted]) => {
    const test = testOf(wanted, fieldOf(field, `where.${field}`), `where.${field}`);
    return (data: JsonObject) => test(data[field] ?? null);
  });
  fieldOf(orderBy, "orderBy");
  if (order !== "asc" && order !== "desc") throw odd("order", `order must be "asc" or "desc" (got ${shown(order)}).`);
  if (!["without", "only", "with"].includes(archived))
    throw odd("archived", `archived must be "without", "only" or "with" (got ${shown(archived)}).`);
  const keyOf = comparableOf(schema?.fields[orderBy]?.type === "datetime");
  const inOrder = order === "desc" ? -1 : 1;
  return {
    table: tableOf(model),
    show: (row) => show(tableOf(model), row),
    limit: Math.max(0, Math.trunc(limit) || 0),
    matches: ({ data, archivedAt }) =>
      (archived === "with" || (archivedAt === null) === (archived === "without")) && tests.every((test) => test(data)),
    compare: (a, b) => compareBy(keyOf(a[orderBy]), a, keyOf(b[orderBy]), b, inOrder),
    // Computes each record's sort key once, so that dates are not parsed in every comparison.
    sorted: (records) =>
      records
        .map((data) => ({ key: keyOf(data[orderBy]), data }))
        .sort((a, b) => compareBy(a.key, a.data, b.key, b.data, inOrder))
        .map(({ data }) => data),
  };
}

function checkField(model: string, schema: Model | undefined, name: string, param: string): Field | undefined {
  const field = schema && Object.hasOwn(schema.fields, name) ? schema.fields[name] : undefined;
  if (field || name === "id" || !schema) return field;
  throw new SyncError(knownFailure("unknown_field", `The model "${model}" has no field ${shown(name)}.`, { param }));
}

const odd = (param: string, message: string) => new SyncError(knownFailure("invalid_value", message, { param }));
const shown = (value: unknown): string => JSON.stringify(value) ?? String(value);

/** Records without a value come last in either direction. Then numbers precede strings, and ids break ties. */
function compareBy(left: Comparable, a: JsonObject, right: Comparable, b: JsonObject, inOrder: 1 | -1): number {
  if (left === right) return byId(a.id as string, b.id as string);
  if (left === undefined || right === undefined) return left === undefined ? 1 : -1;
  if (typeof left !== typeof right) return typeof left === "number" ? -inOrder : inOrder;
  return left < right ? -inOrder : inOrder;
}

const byId = (left: string, right: string) => Number(left > right) - Number(left < right);

type Comparable = string | number | undefined;

/** Compares date-times as instants, because one instant can be written with several offsets. */
const comparableOf =
  (isDatetime: boolean) =>
  (value: unknown): Comparable => {
    if (value === null || value === undefined) return undefined;
    if (typeof value === "boolean") return Number(value);
    if (typeof value === "number") return value;
    if (typeof value === "string") return isDatetime ? instantOf(value) : value;
    return JSON.stringify(value);
  };

/** A string that is not a date sorts as if it had no value. */
function instantOf(text: string): number | undefined {
  const instant = Date.parse(text);
  return Number.isNaN(instant) ? undefined : instant;
}

/** Whether a value is within a bound of a range. */
const RANGES: Readonly<Record<string, (own: string | number, bound: string | number) => boolean>> = {
  gt: (own, bound) => own > bound,
  gte: (own, bound) => own >= bound,
  lt: (own, bound) => own < bound,
  lte: (own, bound) => own <= bound,
};

const OPERATORS = ["in", ...Object.keys(RANGES)];

/** Compiles a condition, which is a value or an object of operators, for use on every row. */
function testOf(wanted: unknown, field: Field | undefined, param: string): (value: Json) => boolean {
  if (wanted === undefined) throw odd(param, `${param} is undefined. Omit the condition, or use null.`);
  if (!isOperators(wanted, field, param)) return (value) => jsonEqual(value, plain(wanted));
  const comparable = comparableOf(field?.type === "datetime");
  const tests = Object.entries(wanted).map(([operator, bound]) => {
    if (bound === undefined) throw odd(`${param}.${operator}`, `${param}.${operator} is undefined.`);
    const isWithin = RANGES[operator];
    if (!isWithin) {
      if (!Array.isArray(bound)) throw odd(`${param}.in`, `${param}.in must be a list.`);
      const values = bound.map(plain);
      return (value: Json) => values.some((one) => jsonEqual(one, value));
    }
    const limit = comparable(plain(bound));
    return (value: Json) => {
      const own = comparable(value);
      return own !== undefined && limit !== undefined && typeof own === typeof limit && isWithin(own, limit);
    };
  });
  return (value) => tests.every((test) => test(value));
}

/** A condition may use a Date, although records store strings. */
const plain = (value: unknown): Json => (value instanceof Date ? value.toISOString() : (value as Json));

/** Whether the condition contains only operators. Any other object is an error unless the field holds objects. */
function isOperators(wanted: unknown, field: Field | undefined, param: string): wanted is object {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted) || wanted instanceof Date) return false;
  const keys = Object.keys(wanted);
  const unknown = keys.find((key) => !OPERATORS.includes(key));
  if (unknown === undefined && keys.length > 0) return true;
  if (!field || field.type === "json") return false;
  const what = unknown === undefined ? "without an operator" : `with the operator ${shown(unknown)}`;
  throw odd(param, `${param} is a condition ${what}. The operators are ${OPERATORS.join(", ")}.`);
}
