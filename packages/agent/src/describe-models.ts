import type { Field, ModelSchema } from "@holdfast/sdk";

/** Describes the schema as briefly as possible for a model to make correct calls. */
export const describeModels = ({ models }: ModelSchema): string =>
  Object.entries(models)
    .map(([name, { fields }]) => `${name} { ${Object.entries(fields).map(describeField).join(", ")} }`)
    .join("\n");

function describeField([name, field]: [string, Field]): string {
  const type =
    field.type === "enum" ? (field.values ?? []).map((value) => JSON.stringify(value)).join(" | ") : field.type;
  return `${name}: ${type}${field.nullable ? " | null" : ""}`;
}
