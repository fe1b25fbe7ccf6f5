import { type Field, isFilledByServer, type Model } from "@holdfast/sdk/protocol";
import { sortableNames } from "../../../kernel/lists/rules/list-column.ts";
import type { Plain, Schemas } from "./json-schema.ts";

/** The schemas of a model's data for create, update and read. */
export interface DataSchemas {
  readonly created: Plain;
  readonly updated: Plain;
  readonly read: Plain;
  /** The fields that a list can be sorted by. */
  readonly sortable: readonly string[];
  /** An example record, made up from the field types. */
  readonly example: Plain;
}

/** Adds a model's schemas under names with an underscore, which no schema of the protocol has. */
export function dataSchemas(name: string, model: Model, schemas: Schemas): DataSchemas {
  const fields = Object.entries(model.fields).filter(([field]) => field !== "id");
  const properties = Object.fromEntries(fields.map(([field, declared]) => [field, schemaOf(declared)]));
  // Only a create applies defaults.
  const filled = fields.filter(([, field]) => field.default !== undefined && !isFilledByServer(field));
  const withDefaults = Object.fromEntries(
    filled.map(([field, declared]) => [field, { ...properties[field], default: declared.default }]),
  );
  // A default fills in a field that a create omits. A record from before the default may lack the field.
  const required = fields.filter(([, { required, default: absent }]) => required && absent === undefined);
  const requiredNames = required.map(([field]) => field);
  const id = { type: "string", description: "The record's id." };
  const sent = { type: "object", additionalProperties: false };
  return {
    created: schemas.put(`${name}_Create`, {
      ...sent,
      description: `A complete "${name}".`,
      properties: { id, ...properties, ...withDefaults },
      ...(requiredNames.length > 0 && { required: requiredNames }),
    }),
    updated: schemas.put(`${name}_Update`, {
      ...sent,
      description: `The changed fields of a "${name}".`,
      properties: { id, ...properties },
      // Only a favorite may be updated with no data.
      ...(name.toLowerCase() !== "favorite" && { minProperties: 1 }),
    }),
    read: schemas.put(`${name}_Data`, {
      type: "object",
      description: `A "${name}" as reads return it.`,
      properties: { id, ...properties },
      required: ["id", ...requiredNames],
    }),
    sortable: sortableNames(model),
    example: Object.fromEntries(
      fields
        .filter(([, { required, nullable }], at) => required || (at < 3 && !nullable))
        .map(([field, declared]) => [field, exampleOf(field, declared)]),
    ),
  };
}

function schemaOf(field: Field): Plain {
  const { type, nullable = false } = field;
  const types = (name: string) => ({ type: nullable ? [name, "null"] : name });
  switch (type) {
    case "string":
    case "boolean":
    case "number":
      return types(type);
    case "integer":
      return {
        ...types(type),
        minimum: Number.MIN_SAFE_INTEGER,
        maximum: Number.MAX_SAFE_INTEGER,
      };
    case "datetime":
      return { ...types("string"), format: "date-time" };
    case "enum":
      return { ...types("string"), enum: [...(field.values ?? []), ...(nullable ? [null] : [])] };
    case "array":
      return { ...types("array"), items: {} };
    case "json":
      // No type: any JSON value, but null only if the field is nullable.
      return { ...(nullable ? {} : { not: { type: "null" } }), description: "Any JSON value." };
  }
}

function exampleOf(name: string, field: Field): unknown {
  if (field.default !== undefined && !isFilledByServer(field)) return field.default;
  switch (field.type) {
    case "string":
      return `${name} 1`;
    case "number":
    case "integer":
      return 1;
    case "boolean":
      return true;
    case "datetime":
      return "2026-01-02T03:04:05.678Z";
    case "enum":
      return field.values?.[0];
    case "array":
      return [];
    case "json":
      return {};
  }
}
