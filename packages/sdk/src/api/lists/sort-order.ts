import { odd } from "../../errors.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { type Comparable, comparable, compareValues, SORTED_CHARACTERS } from "../../protocol/lists/compare-values.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";
import { checkKeys, checkOneOf, fieldOf, listOf, mustBe } from "./query-error.ts";
import { valueIn } from "./value-in.ts";

export type Direction = "asc" | "desc";

/** A field to sort by, with a direction of its own or the query's. */
export type SortKey = string | OneSortKey;

interface OneSortKey {
  readonly field: string;
  readonly order?: Direction | undefined;
  /** For an enum: in the order in which the schema lists its values. */
  readonly by?: "values" | undefined;
}

export interface SortOptions {
  readonly orderBy?: string | readonly SortKey[] | undefined;
  readonly order?: Direction | undefined;
  /** Sorts strings as the language does. Default: by code points. */
  readonly locale?: string | undefined;
  /** A place in the order: only the records before it, the nearest first. */
  readonly before?: JsonObject | undefined;
}

/** A total order: no two records are equal. */
export interface SortOrder {
  /** By what it sorts before the id. */
  readonly fields: readonly string[];
  /** How a record compares with this one. Negative: it comes first. */
  comparedWith(b: JsonObject): (a: JsonObject) => number;
  sorted(records: readonly JsonObject[]): JsonObject[];
  /** The first index of sorted records whose record does not sort before this one. */
  placeOf(data: JsonObject, records: readonly JsonObject[]): number;
}

interface CompiledKey {
  readonly field: string;
  readonly sign: 1 | -1;
  keyOf(value: unknown): Comparable | undefined;
}

/** A record with the keys that it is sorted by. `rest`: those after the first. */
interface Keyed {
  readonly data: JsonObject;
  readonly key: Comparable | undefined;
  readonly rest: Keyed | undefined;
}

/** Compiles an order. Throws for an invalid one. */
export function compileOrder(
  model: string,
  schema: Model | undefined,
  { orderBy = "id", order = "asc", locale, before }: SortOptions,
): SortOrder {
  checkOneOf(order, DIRECTIONS, "order");
  const isSeveral = typeof orderBy !== "string";
  const collate = textOrder(locale);
  const keys = (isSeveral ? (listOf(orderBy, "orderBy") as readonly SortKey[]) : [orderBy]).map(
    (key, i): CompiledKey => {
      const param = isSeveral ? `orderBy[${i}]` : "orderBy";
      const one = typeof key === "string" ? { field: key } : key;
      checkKeys(one, ["field", "order", "by"], param, `${param}.`);
      const { field, order: own = order, by }: OneSortKey = one;
      checkOneOf(own, DIRECTIONS, `${param}.order`);
      const declared = fieldOf(model, schema, field, param);
      const { type } = declared;
      if (type === "array") throw odd(param, `"${field}" cannot be sorted by: its type is array.`);
      const sign = own === "desc" ? -1 : 1;
      if (by === undefined) {
        const isCollated = collate && type !== "datetime";
        const keyOf = (value: unknown) =>
          isCollated && typeof value === "string" ? value : comparable(type, sortedPart(value));
        return { field, sign, keyOf };
      }
      const values = by === "values" && declared.values;
      if (!values) throw mustBe(`${param}.by`, `"values", of an enum`, by);
      // Counted from 1. A value that the enum has no longer sorts as if there were none.
      return { field, sign, keyOf: (value) => values.indexOf(value as string) + 1 || undefined };
    },
  );
  const way = before ? -1 : 1;
  const ofTies = keys[0]?.sign ?? (order === "desc" ? -1 : 1);
  const keyed = (data: JsonObject, at = 0): Keyed => {
    const by = keys[at];
    return { data, key: by?.keyOf(valueIn(data, by.field)), rest: keys[at + 1] && keyed(data, at + 1) };
  };
  const compareKeyed = (a: Keyed, b: Keyed, at = 0): number => {
    const found = compareKeys(a.key, b.key, keys[at]?.sign ?? 1, collate);
    if (found !== 0) return way * found;
    if (a.rest && b.rest) return compareKeyed(a.rest, b.rest, at + 1);
    return way * ofTies * compareValues(a.data.id as string, b.data.id as string);
  };
  const comparedWith = (b: JsonObject) => {
    const its = keyed(b);
    return (a: JsonObject) => compareKeyed(keyed(a), its);
  };
  return {
    fields: keys.map(({ field }) => field),
    comparedWith,
    // Computes each record's sort keys once, so that dates are not parsed in every comparison.
    sorted: (records) =>
      records
        .map((data) => keyed(data))
        .sort((a, b) => compareKeyed(a, b))
        .map(({ data }) => data),
    placeOf: (data, records) => {
      const compared = comparedWith(data);
      let low = 0;
      let high = records.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (compared(records[middle] as JsonObject) < 0) low = middle + 1;
        else high = middle;
      }
      return low;
    },
  };
}

type CompareTexts = (a: string, b: string) => number;

/** Records without a value come last in either direction. */
function compareKeys(
  left: Comparable | undefined,
  right: Comparable | undefined,
  sign: 1 | -1,
  collate: CompareTexts | undefined,
): number {
  if (left === right) return 0;
  if (left === undefined || right === undefined) return left === undefined ? 1 : -1;
  if (collate && typeof left === "string" && typeof right === "string") return sign * collate(left, right);
  if (typeof left === typeof right) return left > right ? sign : -sign;
  return sign * compareValues(left, right);
}

/** A character takes up to two units. */
const sortedPart = (value: unknown): unknown =>
  typeof value === "string" && value.length > SORTED_CHARACTERS
    ? [...value.slice(0, 2 * SORTED_CHARACTERS)].slice(0, SORTED_CHARACTERS).join("")
    : value;

function textOrder(locale: string | undefined): CompareTexts | undefined {
  if (locale === undefined) return undefined;
  try {
    return new Intl.Collator(locale, { numeric: true }).compare;
  } catch {
    throw mustBe("locale", `a language tag like "de"`, locale);
  }
}

const DIRECTIONS: readonly Direction[] = ["asc", "desc"];
