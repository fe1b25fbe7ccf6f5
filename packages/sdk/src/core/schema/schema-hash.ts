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
  const used = operations.map(
    ({ model, data, changes }): Used => [tableOf(model), [...writtenFields({ data, changes })].sort()],
  );
  const name = JSON.stringify(used);
  const shapes = shapesOf(models);
  const known = shapes.get(name);
  if (known !== undefined) return known;
  const shape = shortHash(sortedJson(used.map((each) => partOf(models, each))));
  if (shapes.size < REMEMBERED) shapes.set(name, shape);
  return shape;
}

/** A model and the fields of it that an operation writes. */
type Used = readonly [table: string, fields: readonly string[]];

function partOf(models: Models, [table, fields]: Used): unknown {
  const known = models[table];
  return [table, known !== undefined, fields.map((field) => [field, meaningOf(known?.fields[field])])];
}

/** An app writes few combinations of fields, and hashing one costs more than the rest of queueing its write. */
const REMEMBERED = 1_000;
const remembered = new WeakMap<Models, Map<string, string>>();

function shapesOf(models: Models): Map<string, string> {
  const known = remembered.get(models);
  if (known) return known;
  const made = new Map<string, string>();
  remembered.set(models, made);
  return made;
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
