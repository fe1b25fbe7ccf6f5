import { type Field, isScalar, type Model, type ModelSchema, ownValue } from "@holdfast/sdk/protocol";

interface Fault {
  readonly model: string;
  readonly field: string;
  readonly message: string;
}

/** Why a field cannot be unique, or have `onDelete`. */
export function faultOfValues(models: ModelSchema["models"]): Fault | undefined {
  const byName = new Map(Object.entries(models).map(([name, model]) => [name.toLowerCase(), model]));
  for (const [model, declared] of Object.entries(models))
    for (const [field, { unique, onDelete, ...rest }] of Object.entries(declared.fields)) {
      const message =
        (unique !== undefined ? faultOfUnique(declared, field, unique) : undefined) ??
        (onDelete !== undefined
          ? faultOfReference(declared, rest, onDelete, byName.get(rest.references?.toLowerCase() ?? ""))
          : undefined);
      if (message !== undefined) return { model, field, message };
    }
  return undefined;
}

function faultOfUnique(model: Model, field: string, unique: true | readonly string[]): string | undefined {
  const together = unique === true ? [field] : unique;
  const unknown = together.find((name) => name === "id" || !Object.hasOwn(model.fields, name));
  if (unknown !== undefined) return `"unique" names "${unknown.slice(0, 80)}", which is not a field of this model.`;
  if (!together.includes(field)) return `"unique" must name "${field}" itself, too.`;
  if (new Set(together).size < together.length) return '"unique" names a field twice.';
  const list = together.find((name) => !isScalar(ownValue(model.fields, name) as Field));
  if (list !== undefined) return `"unique" cannot contain "${list}": arrays and json are not compared.`;
  if (together.length === 1 && (ownValue(model.fields, field)?.default ?? null) !== null)
    return "A unique field cannot have a default: the second record would not be unique.";
  if (isElsewhere(model)) return 'Only a model that Holdfast stores can have "unique". Declare it where the rows are.';
  return undefined;
}

function faultOfReference(
  model: Model,
  { type, references, items, nullable }: Omit<Field, "unique" | "onDelete">,
  onDelete: NonNullable<Field["onDelete"]>,
  target: Model | undefined,
): string | undefined {
  if (references === undefined) return 'Only a field with "references" can have "onDelete".';
  if (type === "array" && items !== "string") return 'An array with "onDelete" needs "items": "string".';
  if (type === "array" && onDelete === "cascade")
    return 'An array cannot have "onDelete": "cascade". With "setNull" the id is taken out of the array.';
  if (type === "string" && onDelete === "setNull" && !nullable)
    return 'With "onDelete": "setNull" the field must be nullable.';
  if (isElsewhere(model) || (target && isElsewhere(target)))
    return 'Only models that Holdfast stores can have "onDelete". Declare a foreign key where the rows are.';
  return undefined;
}

const isElsewhere = ({ table, source }: Model): boolean => table !== undefined || source !== undefined;
