import { invalid, odd } from "../../errors.ts";
import { isPlainObject } from "../../protocol/json-problem.ts";
import { ownValue } from "../../protocol/own-value.ts";
import type { Field, Model } from "../../protocol/schema/model-schema.ts";

/** The error for a value that is another than it must be. `param` says where in a query. */
export const mustBe = (param: string, what: string, got: unknown) =>
  odd(param, `${param} must be ${what} (got ${shown(got)}).`);

export const shown = (value: unknown): string =>
  typeof value === "string" || (typeof value === "object" && !(value instanceof Date))
    ? JSON.stringify(value).slice(0, 200)
    : String(value);

export function checkObject(given: unknown, param: string): void {
  if (!isPlainObject(given)) throw mustBe(param, "a plain object", given);
}

/** An item that is left out is undefined. */
export function listOf(given: unknown, param: string): readonly unknown[] {
  if (!Array.isArray(given)) throw mustBe(param, "a list", given);
  return [...given];
}

export function checkOneOf(given: unknown, values: readonly unknown[], param: string): void {
  if (!values.includes(given)) throw mustBe(param, `one of ${values.map(shown).join(", ")}`, given);
}

/** Throws for what is no object, or has another key. `start`: what comes before a key in its `param`. */
export function checkKeys(given: unknown, keys: readonly string[], param = "query", start = ""): void {
  checkObject(given, param);
  for (const key of Object.keys(given as object))
    if (!keys.includes(key))
      throw invalid("unknown_field", `${param} has no ${shown(key)}. Known: ${keys.join(", ")}.`, start + key);
}

const TIME: Field = { type: "datetime" };
export const TEXT: Field = { type: "string" };
/** Of a model whose schema is not known. */
export const ANY: Field = { type: "json", nullable: true };

/** What a query can ask of every record. The server's own facts: see `RowFacts`. */
const FACTS: Readonly<Record<string, Field>> = {
  id: TEXT,
  $createdAt: TIME,
  $updatedAt: TIME,
  $archivedAt: TIME,
  $createdBy: TEXT,
  $updatedBy: TEXT,
  $syncId: { type: "integer" },
};

/** The field that a query names. */
export function fieldOf(model: string, schema: Model | undefined, name: string, param: string): Field {
  const field = ownValue(FACTS, name) ?? (schema ? ownValue(schema.fields, name) : ANY);
  if (field) return field;
  throw invalid("unknown_field", `The model "${model}" has no field ${shown(name)}.`, param);
}

/** Only what can be the key of a map is counted by value: a scalar, or an item of an array. Throws for another field. */
export function countedField(model: string, schema: Model | undefined, name: string): Field {
  const field = fieldOf(model, schema, name, "field");
  if (field.type === "json" && field !== ANY) throw odd("field", `"${name}" cannot be counted by: its type is json.`);
  return field;
}
