import type { Field, ModelSchema } from "@holdfast/sdk";

/** The schema in the fewest words that a model needs to write a correct call. */
export const describeModels = ({ models }: ModelSchema): string =>
  Object.entries(models)
    .map(([name, { fields }]) => `${name} { ${Object.entries(fields).map(describeField).join(", ")} }`)
    .join("\n");

function describeField([name, field]: [string, Field]): string {
  const type =
    field.type === "enum" ? (field.values ?? []).map((value) => JSON.stringify(value)).join(" | ") : field.type;
  return `${name}: ${type}${field.nullable ? " | null" : ""}`;
}
