import { jsonEqual } from "../core/json-equal.ts";
import { tableOf } from "../core/tables.ts";
import type { Row } from "../protocol/apply.ts";
import type { Json, JsonObject } from "../protocol/json.ts";
import type { Model } from "../protocol/model-schema.ts";

/** A query as it comes from any model. */
export interface AnyQuery {
  readonly where?: Readonly<Record<string, unknown>> | undefined;
  readonly orderBy?: string | undefined;
  readonly order?: "asc" | "desc" | undefined;
  readonly limit?: number | undefined;
  readonly archived?: "without" | "only" | "with" | undefined;
}

/** A query as it is asked of each row. */
export interface ListQuery {
  readonly table: string;
  readonly limit: number;
  matches(row: Row): boolean;
  /** A total order: no two records are equal in it. */
  compare(a: JsonObject, b: JsonObject): number;
  sorted(records: readonly JsonObject[]): JsonObject[];
}

export function listQuery(model: string, query: AnyQuery, schema: Model | undefined): ListQuery {
  const { where = {}, orderBy = "id", order = "asc", limit = Number.POSITIVE_INFINITY, archived = "without" } = query;
  const tests = Object.entries(where).map(([field, wanted]) => {
    const test = testOf(wanted, schema?.fields[field]?.type === "datetime");
    return (data: JsonObject) => test(data[field] ?? null);
  });
  const keyOf = comparableOf(schema?.fields[orderBy]?.type === "datetime");
  const inOrder = order === "desc" ? -1 : 1;
  return {
    table: tableOf(model),
    limit: Math.max(0, Math.trunc(limit) || 0),
    matches: ({ data, archivedAt }) =>
      (archived === "with" || (archivedAt === null) === (archived === "without")) && tests.every((test) => test(data)),
    compare: (a, b) => compareBy(keyOf(a[orderBy]), a, keyOf(b[orderBy]), b, inOrder),
    // What a record is compared by is found once for each: a date need not be read at every step of the sorting.
    sorted: (records) =>
      records
        .map((data) => ({ key: keyOf(data[orderBy]), data }))
        .sort((a, b) => compareBy(a.key, a.data, b.key, b.data, inOrder))
        .map(({ data }) => data),
  };
}

/** What has no value comes last, whichever way round; then numbers before texts; then by id. */
function compareBy(left: Comparable, a: JsonObject, right: Comparable, b: JsonObject, inOrder: 1 | -1): number {
  if (left === right) return byId(a.id as string, b.id as string);
  if (left === undefined || right === undefined) return left === undefined ? 1 : -1;
  if (typeof left !== typeof right) return typeof left === "number" ? -inOrder : inOrder;
  return left < right ? -inOrder : inOrder;
}

const byId = (left: string, right: string) => Number(left > right) - Number(left < right);

type Comparable = string | number | undefined;

/** Date-times are compared as instants: the same one may be written with several offsets. */
const comparableOf =
  (isDatetime: boolean) =>
  (value: unknown): Comparable => {
    if (value === null || value === undefined) return undefined;
    if (typeof value === "boolean") return Number(value);
    if (typeof value === "number") return value;
    if (typeof value === "string") return isDatetime ? instantOf(value) : value;
    return JSON.stringify(value);
  };

/** A text that is no date has no place among dates. */
function instantOf(text: string): number | undefined {
  const instant = Date.parse(text);
  return Number.isNaN(instant) ? undefined : instant;
}

/** Whether a value lies within a range's bound. */
const RANGES: Readonly<Record<string, (own: string | number, bound: string | number) => boolean>> = {
  gt: (own, bound) => own > bound,
  gte: (own, bound) => own >= bound,
  lt: (own, bound) => own < bound,
  lte: (own, bound) => own <= bound,
};

/** A value to be equal to, or an object of ranges. Read once, asked of every row. */
function testOf(wanted: unknown, isDatetime: boolean): (value: Json) => boolean {
  if (!isRanges(wanted)) return (value) => jsonEqual(value, wanted as Json);
  const comparable = comparableOf(isDatetime);
  const tests = Object.entries(wanted).map(([range, bound]) => {
    const isWithin = RANGES[range];
    if (bound === undefined) return () => true;
    if (!isWithin) return (value: Json) => (bound as readonly Json[]).some((one) => jsonEqual(one, value));
    const limit = comparable(bound);
    return (value: Json) => {
      const own = comparable(value);
      return own !== undefined && limit !== undefined && typeof own === typeof limit && isWithin(own, limit);
    };
  });
  return (value) => tests.every((test) => test(value));
}

function isRanges(wanted: unknown): wanted is object {
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) return false;
  const keys = Object.keys(wanted);
  return keys.length > 0 && keys.every((key) => key === "in" || Object.hasOwn(RANGES, key));
}
