import { type Field, isScalar, type Model, ownValue } from "@holdfast/sdk/protocol";

const FACTS = ["createdAt", "createdBy", "updatedAt", "updatedBy"] as const;

/** What a list can be filtered by: the id, what the server knows of a record, or a field. */
export type ListColumn =
  | { readonly kind: "id" }
  | { readonly kind: "createdAt" }
  | { readonly kind: "createdBy" }
  | { readonly kind: "updatedAt" }
  | { readonly kind: "updatedBy" }
  | { readonly kind: "archivedAt" }
  | { readonly kind: "syncId" }
  | { readonly kind: "field"; readonly name: string; readonly type: Field["type"] };

/** What a list can be sorted by: a column, or an enum in the order of its values. */
export type SortColumn =
  | ListColumn
  | { readonly kind: "rank"; readonly name: string; readonly values: readonly string[] };

/** Finds a model's column by its exact name. A declared field takes precedence over a fact of the same name. */
export function listColumn(name: string, model: Model): ListColumn | undefined {
  if (name === "id") return { kind: "id" };
  const field = ownValue(model.fields, name);
  if (field) return isScalar(field) ? { kind: "field", name, type: field.type } : undefined;
  const kind = FACTS.find((fact) => fact === name);
  return kind && { kind };
}

const BY_VALUES = ":values";

/** Finds what a key of `order_by` names: a column, or `<field>:values` for an enum in the order of its values. */
export function sortColumn(spelled: string, model: Model): SortColumn | undefined {
  if (!spelled.endsWith(BY_VALUES)) return listColumn(spelled, model);
  const name = spelled.slice(0, -BY_VALUES.length);
  const values = ownValue(model.fields, name)?.values;
  return values && { kind: "rank", name, values };
}

/** Everything that `order_by` may name. A declared field takes precedence over a fact of the same name. */
export function sortableNames({ fields }: Model): readonly string[] {
  const declared = Object.entries(fields).filter(([name]) => name !== "id");
  return [
    "id",
    ...declared.filter(([, field]) => isScalar(field)).map(([name]) => name),
    ...declared.filter(([, { type }]) => type === "enum").map(([name]) => name + BY_VALUES),
    ...FACTS.filter((fact) => !Object.hasOwn(fields, fact)),
  ];
}
