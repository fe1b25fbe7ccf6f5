import type { Json } from "../json.ts";
import { fits } from "./field-value.ts";
import type { Field } from "./model-schema.ts";

/** What a field demands of a value beyond its type. */
export type FieldRule =
  | ("items" | "minLength" | "maxLength" | "min" | "max" | "readonlyAfterCreate")
  | ("pattern" | "transitions" | "writableBy");

/** A rule that a value breaks, and what the rule demands: `must have at most 200 characters`. */
export interface BrokenRule {
  readonly rule: FieldRule;
  readonly demand: string;
}

/**
 * The first rule that a value of the field's type breaks. The server judges by it, and a client before it sends. Stored
 * values are not judged: a rule that comes later holds for later writes of the field. Not here, because a client loads
 * them later: `brokenPattern` and `brokenRecordRule`.
 */
export function brokenRule(field: Field, value: Json, action: "create" | "update"): BrokenRule | undefined {
  if (action === "update" && field.readonlyAfterCreate)
    return { rule: "readonlyAfterCreate", demand: "cannot be changed once the record is there" };
  if (typeof value === "string") return brokenLength(field, value.length, () => [...value].length, "characters");
  const { items } = field;
  if (Array.isArray(value) && items && !value.every((item) => fits({ type: items }, item)))
    return { rule: "items", demand: `must have only items of type ${items}` };
  if (Array.isArray(value)) return brokenLength(field, value.length, () => value.length, "items");
  if (typeof value !== "number") return undefined;
  const { min, max } = field;
  if (min !== undefined && value < min) return { rule: "min", demand: `must be at least ${min}` };
  if (max !== undefined && value > max) return { rule: "max", demand: `must be at most ${max}` };
  return undefined;
}

/** A character may take two units: they are only counted where that matters. */
function brokenLength(
  { minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Field,
  units: number,
  count: () => number,
  what: "characters" | "items",
): BrokenRule | undefined {
  if (units < minLength || (minLength > 0 && units < 2 * minLength && count() < minLength))
    return { rule: "minLength", demand: `must have at least ${counted(minLength, what)}` };
  if (units > maxLength && count() > maxLength)
    return { rule: "maxLength", demand: `must have at most ${counted(maxLength, what)}` };
  return undefined;
}

const counted = (count: number, what: string): string => `${count} ${count === 1 ? what.slice(0, -1) : what}`;

/** Why a field cannot have its rules, or be merged. Undefined: it can. */
export function faultOfRules({
  type,
  items,
  minLength,
  maxLength,
  min,
  max,
  merge,
  pattern,
  references,
}: Field): string | undefined {
  if (items !== undefined && type !== "array") return 'Only an array can have "items".';
  if (items !== undefined && items !== "string" && references !== undefined)
    return 'An array with "references" must have "items": "string".';
  const hasLength = type === "string" || type === "array";
  const isNumber = type === "number" || type === "integer";
  if (!hasLength && (minLength ?? maxLength) !== undefined)
    return 'Only a string or an array can have "minLength" and "maxLength".';
  if (merge !== undefined && (type !== "string" || references !== undefined))
    return 'Only a string without "references" can have "merge".';
  if (pattern !== undefined && type !== "string") return 'Only a string can have "pattern".';
  if (!isNumber && (min ?? max) !== undefined) return 'Only a number or an integer can have "min" and "max".';
  if (minLength !== undefined && maxLength !== undefined && minLength > maxLength)
    return '"minLength" is greater than "maxLength".';
  if (min !== undefined && max !== undefined && min > max) return '"min" is greater than "max".';
  return undefined;
}
