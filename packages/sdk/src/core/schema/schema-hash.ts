import { writtenFields } from "../../protocol/commits/field-change.ts";
import type { Field, Model, ModelSchema } from "../../protocol/schema/model-schema.ts";
import { shortHash, sortedJson } from "../../protocol/short-hash.ts";
import { tableOf } from "../log/tables.ts";
import type { MutationOperation } from "../queue/mutation.ts";

type Models = Readonly<Record<string, Model>>;

/**
 * A short hash of a schema: 11 letters and digits, independent of the order of models and fields. Two different schemas
 * collide with a probability of 2^-52.
 */
export const schemaHash = ({ models }: Pick<ModelSchema, "models">): string => shortHash(sortedJson(models));

/** The hash of the part that a write uses, so that other schema changes do not affect the write. */
export function shapeOf(
  models: Models,
  operations: readonly Pick<MutationOperation, "model" | "data" | "changes">[],
): string {
  const used = operations.map(({ model, data, changes }) => {
    const known = models[tableOf(model)];
    const fields = [...writtenFields({ data, changes })].sort();
    return [tableOf(model), known !== undefined, fields.map((field) => [field, meaningOf(known?.fields[field])])];
  });
  return shortHash(sortedJson(used));
}

/**
 * Leaves out what a field references, what is unique, how it is merged, and rules that the server judges: none changes
 * what a write means.
 */
function meaningOf(field: Field | undefined): object | null {
  if (!field) return null;
  const { references, inverse, merge, pattern, transitions, writableBy, onDelete, unique, ...meaning } = field;
  return meaning;
}
