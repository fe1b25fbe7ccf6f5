import { clientLimits as limits } from "./client-limits.ts";

/** What is wrong with a value: `path` leads to it, and is empty for the value itself. */
export interface JsonProblem {
  readonly path: string;
  readonly what: string;
}

/** Where the data of an operation is in a bulk: the nesting of a value counts from the body. */
export const levelsOfData = 5;

/** What is wrong with a number that was parsed from a text. Asked only of those so large that they may be rounded. */
type NumberProblem = (value: unknown) => string | undefined;

/**
 * What JSON, the database or other clients could not return unchanged: values that JSON drops or changes, NUL, lone
 * surrogates, numbers that overflow or are `unkept`, nesting deeper than 64, objects with more than 1 000 keys or with
 * the key `__proto__`. The recursion has a depth limit, so a million brackets cannot exhaust the stack. `level`: how
 * deep the value is in its request.
 */
export const jsonProblem = (
  value: unknown,
  path = "",
  level = path ? 1 : 0,
  unkept?: NumberProblem,
): JsonProblem | undefined => (isPlain(value) ? undefined : problemOf(value, path, level, unkept));

function problemOf(value: unknown, path: string, level: number, unkept?: NumberProblem): JsonProblem | undefined {
  const problem = (what: string): JsonProblem => ({ path, what });
  const type = typeof value;
  if (type === "string") return problem(NOT_TEXT);
  if (Number.isFinite(value)) {
    const what = unkept?.(value);
    return what ? problem(what) : undefined;
  }
  if (value === undefined) return problem("is undefined; omit the field, or use null");
  if (type !== "object" || value === null)
    return problem(`is ${type === "number" ? value : `a ${type}`}, which JSON cannot represent`);
  const isArray = Array.isArray(value);
  if (!isArray && !isPlainObject(value))
    return problem("is an instance of a class; use a plain object, or a Date's toISOString()");
  if (level >= limits.jsonDepth) return problem(`is nested deeper than ${limits.jsonDepth} levels`);
  if (!isArray && Object.keys(value).length > limits.keysPerObject)
    return problem(`has more than ${limits.keysPerObject} keys`);
  for (const [key, item] of isArray ? value.entries() : Object.entries(value)) {
    if (!isPlain(key)) return problem(NOT_TEXT);
    // Code that copies the object key by key would set the prototype instead and lose the value.
    if (isPlain(item) && key !== "__proto__") continue;
    const at = isArray ? `${path}[${key}]` : path ? `${path}.${key}` : `${key}`;
    if (key === "__proto__") return { path: at, what: "is a key that is not allowed" };
    const found = problemOf(item, at, level + 1, unkept);
    if (found) return found;
  }
  return undefined;
}

/** The common valid values. All other strings are problems, and large numbers are looked at. */
const isPlain = (value: unknown): boolean =>
  typeof value === "boolean" ||
  value === null ||
  (typeof value === "number" && (Number.isSafeInteger(value) || (Number.isFinite(value) && value % 1 !== 0))) ||
  (typeof value === "string" && isText(value));

/** In Unicode mode, a surrogate is one that is alone. */
const isText = (text: string): boolean => !text.includes("\u0000") && !/\p{Cs}/u.test(text);

/** A row that the client gave has a prototype of its own, which says that it is a plain object. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || (Object.hasOwn(prototype, "constructor") && prototype.constructor === Object);
}

const NOT_TEXT = "has a NUL character or half of a surrogate pair";
