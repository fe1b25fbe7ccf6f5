import type { FieldType } from "../../protocol/schema/model-schema.ts";

/** What a value sorts and is bounded by. Undefined: it has no value. */
export type Comparable = string | number | undefined;

/** Compares date-times as instants, because one instant can be written with several offsets. */
export const comparableOf =
  (type: FieldType | undefined) =>
  (value: unknown): Comparable => {
    if (value === null || value === undefined) return undefined;
    if (typeof value === "boolean") return Number(value);
    if (typeof value === "number") return value;
    if (typeof value === "string") return type === "datetime" ? instantOf(value) : value;
    return JSON.stringify(value);
  };

/** A string that is not a date sorts as if it had no value. */
function instantOf(text: string): number | undefined {
  const instant = Date.parse(text);
  return Number.isNaN(instant) ? undefined : instant;
}
