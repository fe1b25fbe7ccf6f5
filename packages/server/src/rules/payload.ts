import type { Action, Field, Json, JsonObject, Model } from "@holdfast/sdk/protocol";
import { isDateTime } from "./datetime.ts";
import { type Refusal, refuse } from "./refusal.ts";

/** `data` against the pushed model: interpreted field by field, since a caller's schema is never compiled to code. */
export function checkPayload(
  model: Model,
  action: Action,
  id: string,
  data: JsonObject | undefined,
): Refusal | undefined {
  if (action !== "create" && action !== "update")
    return data === undefined
      ? undefined
      : refuse("unknown_field", { param: "data", message: `"${action}" takes no data.` });
  if (data === undefined) return refuse("missing_field", { param: "data" });
  for (const [name, value] of Object.entries(data)) {
    if (name === "id") {
      if (value !== id) return refuse("id_mismatch", { param: "data.id" });
      continue;
    }
    const field = Object.hasOwn(model.fields, name) ? model.fields[name] : undefined;
    if (!field) return refuse("unknown_field", { param: `data.${name}` });
    if (!fits(field, value))
      return refuse("invalid_type", { param: `data.${name}`, message: `"${name}" has to be ${wanted(field)}.` });
  }
  return action === "create" ? checkRequired(model, data) : undefined;
}

/** Whether an update writes anything. */
export const writesNothing = (data: JsonObject | undefined): boolean =>
  data === undefined || Object.keys(data).every((name) => name === "id");

function checkRequired(model: Model, data: JsonObject): Refusal | undefined {
  for (const [name, field] of Object.entries(model.fields))
    if (field.required && name !== "id" && !Object.hasOwn(data, name) && field.default === undefined)
      return refuse("missing_field", { param: `data.${name}` });
  return undefined;
}

/** Whether a value is of a field's type. Types are never coerced. */
export function fits(field: Field, value: Json): boolean {
  if (value === null) return field.nullable === true;
  switch (field.type) {
    case "string":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "integer":
      return Number.isSafeInteger(value);
    case "boolean":
      return typeof value === "boolean";
    case "datetime":
      return typeof value === "string" && isDateTime(value);
    case "enum":
      return typeof value === "string" && (field.values ?? []).includes(value);
    case "array":
      return Array.isArray(value);
    case "json":
      return true;
  }
}

const wanted = (field: Field): string => {
  const type =
    field.type === "enum"
      ? `one of ${(field.values ?? []).join(", ")}`
      : field.type === "datetime"
        ? "an RFC 3339 date-time"
        : `of type ${field.type}`;
  return field.nullable ? `${type}, or null` : type;
};
