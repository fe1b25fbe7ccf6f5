import type { Field, Model, ModelSchema } from "../../protocol/schema/model-schema.ts";
import { tableOf } from "../log/tables.ts";

type Models = Readonly<Record<string, Model>>;

/**
 * A short name for what a schema says: 11 letters and digits, the same for the same models and fields in whatever
 * order. Two schemas that differ have the same one by chance once in 2^52.
 */
export const schemaHash = ({ models }: Pick<ModelSchema, "models">): string => hashOf(sorted(models));

/** The same for the part of it that a write uses: what else changes does not concern the write. */
export function shapeOf(
  models: Models,
  operations: readonly { readonly model: string; readonly data?: object | undefined }[],
): string {
  const used = operations.map(({ model, data = {} }) => {
    const known = models[tableOf(model)];
    const fields = Object.keys(data).sort();
    return [tableOf(model), known !== undefined, fields.map((field) => [field, meaningOf(known?.fields[field])])];
  });
  return hashOf(sorted(used));
}

/** What a field references decides when a write is sent, and nothing of what it says. */
function meaningOf(field: Field | undefined): object | null {
  if (!field) return null;
  const { references: _, ...meaning } = field;
  return meaning;
}

/** JSON with the keys in one order. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, v: unknown) =>
    typeof v === "object" && v !== null && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  );

/** FNV-1a, twice, from two starting points: no secret depends on it. */
function hashOf(text: string): string {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit ^ (i << 3), 0x5bd1e995);
  }
  return ((a >>> 0) * 2 ** 20 + ((b >>> 0) & 0xfffff)).toString(36).padStart(11, "0");
}
