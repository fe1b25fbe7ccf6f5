import { limits } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../refusal.ts";

/**
 * Refuses JSON values that the database or other clients could not return unchanged: NUL, lone surrogates, numbers
 * that overflow, whole numbers that a double does not keep (`rounded`), nesting deeper than 64, objects with more than 1 000 keys or with
 * the key `__proto__`. The recursion has a depth limit, so a million brackets cannot exhaust the stack.
 */
export const checkJsonValues = (value: unknown, param?: string, rounded: Rounded = none): Refusal | undefined =>
  isPlain(value) ? undefined : checkValue(value, param === undefined ? [] : [param], rounded);

/** What was rounded when the text was parsed. Asked only if there is a number so large. */
type Rounded = () => ReadonlySet<number>;
const none: Rounded = () => new Set();

/** Keys and indexes from the body to a value. Turned into text only for an error. */
type Path = (string | number)[];

/** `path` leads to the value; after an error, to its location. */
function checkValue(value: unknown, path: Path, rounded: Rounded): Refusal | undefined {
  if (typeof value === "string") return refuse("invalid_value", { ...named(path), message: NOT_TEXT });
  if (typeof value === "number")
    return Number.isFinite(value) && !rounded().has(value)
      ? undefined
      : refuse("invalid_value", { ...named(path), message: NO_FIT });
  if (typeof value !== "object" || value === null) return undefined;
  if (path.length >= limits.jsonDepth)
    return refuse("invalid_value", {
      ...named(path),
      message: `The JSON is nested deeper than ${limits.jsonDepth} levels.`,
    });
  return Array.isArray(value)
    ? checkItems(value, path, rounded)
    : checkMembers(value as Record<string, unknown>, path, rounded);
}

function checkItems(items: readonly unknown[], path: Path, rounded: Rounded): Refusal | undefined {
  for (let i = 0; i < items.length; i++) {
    const refusal = isPlain(items[i]) ? undefined : checkWithin(items[i], i, path, rounded);
    if (refusal) return refusal;
  }
  return undefined;
}

function checkMembers(members: Record<string, unknown>, path: Path, rounded: Rounded): Refusal | undefined {
  const keys = Object.keys(members);
  if (keys.length > limits.keysPerObject)
    return refuse("invalid_value", {
      ...named(path),
      message: `An object has more than ${limits.keysPerObject} keys.`,
    });
  for (const key of keys) {
    if (!isText(key)) return refuse("invalid_value", { ...named(path), message: NOT_TEXT });
    // Code that copies the object key by key would set the prototype instead and lose the value.
    if (key === "__proto__")
      return refuse("invalid_value", { ...named([...path, key]), message: 'The key "__proto__" is not allowed.' });
    const item = members[key];
    const refusal = isPlain(item) ? undefined : checkWithin(item, key, path, rounded);
    if (refusal) return refusal;
  }
  return undefined;
}

function checkWithin(value: unknown, step: string | number, path: Path, rounded: Rounded): Refusal | undefined {
  path.push(step);
  const refusal = checkValue(value, path, rounded);
  path.pop();
  return refusal;
}

/** The common valid values. All other strings are errors, and large numbers are looked at. */
const isPlain = (value: unknown): boolean =>
  typeof value === "boolean" ||
  value === null ||
  (typeof value === "number" && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) ||
  (typeof value === "string" && isText(value));

const isText = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed();

const NOT_TEXT = "Text must not contain a NUL character or half of a surrogate pair.";
const NO_FIT = "The number is too large, or has more digits than a number keeps. Send such digits as text.";

/** The location of an error. The body itself has no name. */
function named(path: Path): { param?: string } {
  if (path.length === 0) return {};
  let param = "";
  for (const step of path) param += typeof step === "number" ? `[${step}]` : param === "" ? step : `.${step}`;
  return { param: param.length > 200 ? `${param.slice(0, 200)}…` : param };
}
