import { isDeepStrictEqual } from "node:util";
import { shown } from "./unmet.ts";

/**
 * What a value should look like. Text, numbers, booleans and null match themselves, a RegExp matches text that it
 * matches, a list for a list of that length, an object for an object that has at least these keys.
 */
export type Pattern =
  | string
  | number
  | boolean
  | null
  | RegExp
  | Kind
  | readonly Pattern[]
  | { readonly [key: string]: Pattern };

/** A pattern with a name, which matches every value that passes its test. */
export class Kind {
  readonly name: string;
  readonly test: (value: unknown) => boolean;
  constructor(name: string, test: (value: unknown) => boolean) {
    this.name = name;
    this.test = test;
  }
}

const kind = (name: string, test: (value: unknown) => boolean): Kind => new Kind(name, test);

export const text = kind("a text", (value) => typeof value === "string");
export const someText = kind("a text that is not empty", (value) => typeof value === "string" && value !== "");
export const flag = kind("true or false", (value) => typeof value === "boolean");
export const position = kind("a whole number from 0", (value) => Number.isSafeInteger(value) && (value as number) >= 0);
export const anything = kind("anything", (value) => value !== undefined);
export const absent = kind("nothing: the key is left out", (value) => value === undefined);
export const anObject = kind("an object", (value) => isObject(value));
export const aList = kind("a list", Array.isArray);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
export const time = kind(
  "an ISO 8601 date-time",
  (value) => typeof value === "string" && TIME.test(value) && !Number.isNaN(Date.parse(value)),
);

export const atLeast = (least: number): Kind =>
  kind(`a number from ${least}`, (value) => typeof value === "number" && value >= least);
export const oneOf = (...patterns: readonly Pattern[]): Kind =>
  kind(patterns.map(named).join(" or "), (value) => patterns.some((one) => mismatch(value, one) === undefined));
export const orNull = (pattern: Pattern): Kind => oneOf(pattern, null);
export const listOf = (pattern: Pattern): Kind =>
  kind(
    `a list of ${named(pattern)}`,
    (value) => Array.isArray(value) && value.every((item) => mismatch(item, pattern) === undefined),
  );
/** Exactly this value; keys of objects in any order. */
export const exactly = (expected: unknown): Kind =>
  kind(`exactly ${shown(expected)}`, (value) => isDeepStrictEqual(value, expected));
/** A record with exactly these values. A field without a value is left out, or null, as it is in a table. */
export const row = (expected: Readonly<Record<string, unknown>>): Kind =>
  kind(
    `the row ${shown(expected)}`,
    (value) => isObject(value) && isDeepStrictEqual(withoutNulls(value, expected), { ...expected }),
  );
const withoutNulls = (value: Readonly<Record<string, unknown>>, expected: object) =>
  Object.fromEntries(Object.entries(value).filter(([key, one]) => one !== null || Object.hasOwn(expected, key)));

/** A list of these texts, in any order. */
export const sameSet = (...expected: readonly string[]): Kind =>
  kind(
    `${shown(expected)} in any order`,
    (value) => Array.isArray(value) && isDeepStrictEqual([...value].sort(), [...expected].sort()),
  );

/** Where a value differs from a pattern, and what was expected there; undefined if it matches. */
export function mismatch(
  value: unknown,
  pattern: Pattern,
  path = "",
): { readonly path: string; readonly expected: string; readonly got: unknown } | undefined {
  const differs = (expected: string) => ({ path, expected, got: value });
  if (pattern instanceof Kind) return pattern.test(value) ? undefined : differs(pattern.name);
  if (pattern instanceof RegExp)
    return typeof value === "string" && pattern.test(value) ? undefined : differs(named(pattern));
  if (pattern === null || typeof pattern !== "object")
    return Object.is(value, pattern) ? undefined : differs(named(pattern));
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value)) return differs("a list");
    if (value.length !== pattern.length) return differs(`a list of ${pattern.length}`);
    return first(pattern.map((one, i) => mismatch(value[i], one, `${path}[${i}]`)));
  }
  if (!isObject(value)) return differs("an object");
  return first(
    Object.entries(pattern).map(([key, one]) => mismatch(own(value, key), one, path === "" ? key : `${path}.${key}`)),
  );
}

export function named(pattern: Pattern): string {
  if (pattern instanceof Kind) return pattern.name;
  if (pattern instanceof RegExp) return `a text that matches ${pattern}`;
  if (pattern === null || typeof pattern !== "object") return shown(pattern);
  if (Array.isArray(pattern)) return `[${pattern.map(named).join(", ")}]`;
  return `{${Object.entries(pattern)
    .map(([key, one]) => `${key}: ${named(one)}`)
    .join(", ")}}`;
}

const first = <T>(found: readonly (T | undefined)[]): T | undefined => found.find((one) => one !== undefined);

/** The value of the object's own key: an answer without `constructor` must not seem to have one. */
const own = (value: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key] : undefined;

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
