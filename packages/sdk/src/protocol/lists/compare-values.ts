import type { Json } from "../json.ts";
import { isDateTime } from "../schema/datetime.ts";
import type { Field, FieldType } from "../schema/model-schema.ts";

/**
 * What lists compare of a value, in a client and on the server: text by code points, date-times as instants, to the
 * microsecond, numbers as doubles. The statements of the server's lists do the same in SQL; `qa/lists` compares both.
 */
export type Comparable = string | number | bigint | boolean;

/** Lists sort text by this many characters, because an index keeps no more. Filters compare all of it. */
export const SORTED_CHARACTERS = 500;

/** By type with an order and one value: what JavaScript calls it. */
const SCALARS: Partial<Record<FieldType, string>> = {
  string: "string",
  enum: "string",
  datetime: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
};

/** Whether lists are sorted and filtered by the values of a field. */
export const isScalar = ({ type }: Pick<Field, "type">): boolean => SCALARS[type] !== undefined;

/** A value of a field. Null: it is absent, or of another type. A text may still be no date-time. */
export const typedValue = (type: FieldType | undefined, value: unknown): Json =>
  (type === "array" ? Array.isArray(value) : (SCALARS[type as FieldType] ?? typeof value) === typeof value)
    ? ((value ?? null) as Json)
    : null;

/** What a value of a field is compared by. Undefined: it is none of the field's type. Equal ones are `===`. */
export function comparable(type: FieldType | undefined, given: unknown): Comparable | undefined {
  const value = typedValue(type, given);
  if (value === null) return undefined;
  if (type === "datetime") return instantOf(value as string);
  // Few texts have such a character, and to look for one is cheaper than to replace none.
  if (typeof value === "string")
    return /[\ud800-\uffff]/.test(value) ? value.replace(/[\ud800-\uffff]/g, inOrder) : value;
  return typeof value === "object" ? JSON.stringify(value) : (value as Comparable);
}

/** Negative: `a` comes first. Numbers precede text. */
export function compareValues(a: Comparable, b: Comparable): number {
  return typeof a === typeof b ? orderOf(a, b) : orderOf(typeof a, typeof b);
}

const orderOf = (a: Comparable, b: Comparable): number => Number(a > b) - Number(a < b);

/**
 * JavaScript compares UTF-16 units. Surrogates, whose code points come last, change places with the units above them:
 * so compared, text is in the order of its code points.
 */
function inOrder(character: string): string {
  const unit = character.charCodeAt(0);
  return String.fromCharCode(unit < 0xe000 ? unit + 0x2000 : unit - 0x800);
}

/** In microseconds. Undefined: no date-time. */
function instantOf(text: string): bigint | undefined {
  if (!isDateTime(text)) return undefined;
  // Few texts say more than milliseconds.
  if (!/\.\d{4}/.test(text)) return BigInt(Date.parse(text)) * 1_000n;
  const [start, digits = "0", end = ""] = text.split(/\.(\d+)/);
  // As Postgres rounds: doubles beyond 2^52 are whole, and half a microsecond goes to the even one.
  return BigInt(Date.parse(start + end)) * 1_000n + BigInt(Number(`.${digits}`) * 1e6 + 2 ** 52 - 2 ** 52);
}
