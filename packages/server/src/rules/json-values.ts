import { limits } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "./refusal.ts";

/**
 * What JSON can spell but the database, or another client, could not give back: NUL, lone surrogates, whole numbers
 * beyond ±(2^53−1), numbers that overflow, nesting deeper than 64, objects of more than 1 000 keys.
 * Walks with a depth limit, so a million brackets cost no stack.
 */
export function checkJsonValues(value: unknown, param = "", depth = 1): Refusal | undefined {
  if (typeof value === "string") return checkText(value, param);
  if (typeof value === "number") return checkNumber(value, param);
  if (typeof value !== "object" || value === null) return undefined;
  if (depth > limits.jsonDepth)
    return refuse("invalid_value", {
      ...named(param),
      message: `Nested deeper than ${limits.jsonDepth} levels.`,
    });
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i];
      if (isPlain(item)) continue;
      const refusal = checkJsonValues(item, `${param}[${i}]`, depth + 1);
      if (refusal) return refusal;
    }
    return undefined;
  }
  const keys = Object.keys(value);
  if (keys.length > limits.keysPerObject)
    return refuse("invalid_value", {
      ...named(param),
      message: `More than ${limits.keysPerObject} keys in one object.`,
    });
  for (const key of keys) {
    const item = (value as Record<string, unknown>)[key];
    const refusal =
      checkText(key, param) ??
      (isPlain(item) ? undefined : checkJsonValues(item, param === "" ? key : `${param}.${key}`, depth + 1));
    if (refusal) return refusal;
  }
  return undefined;
}

/** The common harmless values, told apart before a path for the error message is built. */
const isPlain = (value: unknown): boolean =>
  typeof value === "boolean" ||
  value === null ||
  (typeof value === "number" && Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER) ||
  (typeof value === "string" && isText(value));

const isText = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed();

const checkText = (text: string, param: string): Refusal | undefined =>
  isText(text)
    ? undefined
    : refuse("invalid_value", {
        ...named(param),
        message: "Text with a NUL character or half a surrogate pair cannot be kept.",
      });

const checkNumber = (value: number, param: string): Refusal | undefined =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
    ? undefined
    : refuse("invalid_value", {
        ...named(param),
        message: "The number does not fit: whole numbers go to 2^53-1.",
      });

/** The place of a fault; the body itself has no name. */
const named = (param: string): { param?: string } =>
  param === "" ? {} : { param: param.length > 200 ? `${param.slice(0, 200)}…` : param };
