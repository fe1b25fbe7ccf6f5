import type { Json, JsonObject } from "../json.ts";
import { type Comparable, comparable, compareValues } from "../lists/compare-values.ts";
import { ownValue } from "../own-value.ts";
import type { Field, Model } from "../schema/model-schema.ts";
import type { FollowedConditions } from "./followed-records.ts";

/**
 * Whether a record meets conditions that a reader follows by, on both sides: a value that is absent, or of another type
 * than its field's, counts as none, and so does one of a field that the schema lacks.
 */
export const meetsConditions = (
  conditions: FollowedConditions,
  model: Model | undefined,
  id: string,
  data: JsonObject,
): boolean =>
  Object.entries(conditions).every(([name, condition]) => {
    const type = ownValue(model?.fields ?? {}, name)?.type ?? "string";
    const value = name === "id" ? id : ownValue(data, name);
    const operators = Object.entries(typeof condition === "object" && condition ? condition : { eq: condition });
    return operators.every(([operator, operand]) => meets(type, value, operator, operand as Json));
  });

/** What conditions compare of a value. Undefined: none. A list or an object in a field of the type json equals no value. */
export const followedValue = (type: Field["type"], value: Json | undefined): Comparable | undefined =>
  type === "json" && Object(value) === value ? Number.NaN : comparable(type, value);

function meets(type: Field["type"], value: Json | undefined, operator: string, operand: Json): boolean {
  if (operator === "contains") return type === "array" && Array.isArray(value) && value.includes(operand);
  if (type === "array") return false;
  const own = followedValue(type, value);
  const is = (one: Json) => (one === null || own !== undefined) && own === comparable(type, one);
  if (operator === "eq") return is(operand);
  if (operator === "in") return (operand as Json[]).some(is);
  const bound = comparable(type, operand);
  if (!RANGED.has(type) || own === undefined || bound === undefined) return false;
  const order = compareValues(own, bound);
  return (order === 0 && operator.length === 3) || (operator.startsWith("g") ? order > 0 : order < 0);
}

const RANGED: ReadonlySet<Field["type"]> = new Set(["number", "integer", "datetime"]);
