import type { Field, Model } from "@holdfast/sdk/protocol";

/** What a list is sorted and narrowed by: the id, a time of the record, or a scalar field of its data. */
export type ListColumn =
  | { readonly kind: "id" }
  | { readonly kind: "createdAt" }
  | { readonly kind: "updatedAt" }
  | { readonly kind: "field"; readonly name: string; readonly type: Field["type"] };

const SCALAR: ReadonlySet<Field["type"]> = new Set(["string", "number", "integer", "boolean", "datetime", "enum"]);

export const isScalar = (field: Pick<Field, "type">): boolean => SCALAR.has(field.type);

/** The column of that exact name that a model can be listed by; a declared field wins over a time of that name. */
export function listColumn(name: string, model: Model): ListColumn | undefined {
  if (name === "id") return { kind: "id" };
  const field = Object.hasOwn(model.fields, name) ? model.fields[name] : undefined;
  if (field) return isScalar(field) ? { kind: "field", name, type: field.type } : undefined;
  if (name === "createdAt") return { kind: "createdAt" };
  return name === "updatedAt" ? { kind: "updatedAt" } : undefined;
}
