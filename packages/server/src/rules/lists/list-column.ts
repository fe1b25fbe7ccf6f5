import type { Field, Model } from "@holdfast/sdk/protocol";

/** What a list can be sorted and filtered by: the id, a time of the record, or a scalar field. */
export type ListColumn =
  | { readonly kind: "id" }
  | { readonly kind: "createdAt" }
  | { readonly kind: "updatedAt" }
  | { readonly kind: "field"; readonly name: string; readonly type: Field["type"] };

const SCALAR: ReadonlySet<Field["type"]> = new Set(["string", "number", "integer", "boolean", "datetime", "enum"]);

export const isScalar = (field: Pick<Field, "type">): boolean => SCALAR.has(field.type);

/** Finds a model's column by its exact name. A declared field takes precedence over a time of the same name. */
export function listColumn(name: string, model: Model): ListColumn | undefined {
  if (name === "id") return { kind: "id" };
  const field = Object.hasOwn(model.fields, name) ? model.fields[name] : undefined;
  if (field) return isScalar(field) ? { kind: "field", name, type: field.type } : undefined;
  if (name === "createdAt") return { kind: "createdAt" };
  return name === "updatedAt" ? { kind: "updatedAt" } : undefined;
}
