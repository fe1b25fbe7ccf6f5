import type { Json } from "../json.ts";
import { isDateTime } from "./datetime.ts";
import type { Field } from "./model-schema.ts";

/**
 * Whether a value is of a field's type. Types are never coerced. The server judges by it, and a client before it sends.
 */
export function fits(field: Field, value: Json): boolean {
  if (value === null) return field.nullable === true;
  switch (field.type) {
    case "string":
      return typeof value === "string";
    case "number":
      return Number.isFinite(value);
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

/** What a field takes, for people: `"order" has to be of type number, or null.` */
export function expectedValue(field: Field): string {
  const type =
    field.type === "enum"
      ? `one of ${(field.values ?? []).join(", ")}`
      : field.type === "datetime"
        ? "an RFC 3339 date-time"
        : `of type ${field.type}`;
  return field.nullable ? `${type}, or null` : type;
}

/**
 * Whether the default is no value but a name for what each create gets: in a string field `$participant`, the writer as
 * `<kind>:<id>`; in a datetime field `$now`, the time of the commit.
 */
export const isFilledByServer = ({ type, default: value }: Field): boolean =>
  (type === "string" && value === "$participant") || (type === "datetime" && value === "$now");

/** Whether a create needs a value for the field, or has a default for it. */
export const isRequired = (field: Field): boolean => field.required === true && field.default === undefined;
