import { invalidFailure } from "../../core/queue/failure.ts";
import { SyncError } from "../../errors.ts";
import { isScalar } from "../../protocol/lists/compare-values.ts";
import { ownValue } from "../../protocol/own-value.ts";
import type { Field, Model } from "../../protocol/schema/model-schema.ts";

/** A query that cannot be meant so. `param` says where. */
export const odd = (param: string, message: string) => new SyncError(invalidFailure("invalid_value", message, param));

/** The same, for a value that is another than it must be. */
export const mustBe = (param: string, what: string, got: unknown) =>
  odd(param, `${param} must be ${what} (got ${shown(got)}).`);

export const shown = (value: unknown): string => JSON.stringify(value) ?? String(value);

const TIME: Field = { type: "datetime" };
const NAME: Field = { type: "string" };

/** What a query can ask of the server's own facts: see `RowFacts`. */
const FACTS: Readonly<Record<string, Field>> = {
  $createdAt: TIME,
  $updatedAt: TIME,
  $archivedAt: TIME,
  $createdBy: NAME,
  $updatedBy: NAME,
  $syncId: { type: "integer" },
};

/** The field that a query names. Undefined for `id`, and for any field if the schema is not known. */
export function fieldOf(model: string, schema: Model | undefined, name: string, param: string): Field | undefined {
  const field = ownValue(FACTS, name) ?? schema?.fields[name];
  if (field || name === "id" || !schema) return field;
  throw new SyncError(invalidFailure("unknown_field", `The model "${model}" has no field ${shown(name)}.`, param));
}

/** Only what can be the key of a map is counted by value. */
export function checkCounted(model: string, schema: Model | undefined, name: string): void {
  const field = fieldOf(model, schema, name, "field");
  if (field && !isScalar(field))
    throw odd("field", `"${name}" has no single value to count by: its type is ${field.type}.`);
}
