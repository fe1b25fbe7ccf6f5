import { type Field, fits, isFilledByServer, type Json } from "@holdfast/sdk/protocol";
import type { CatalogColumn } from "./catalog-table.ts";
import { stringsOf } from "./check-values.ts";

const CAST = String.raw`(?:::(?:"(?:[^"]|"")*"|[\w .])+(?:\(\d+(?:,\d+)?\))?(?:\[\])?)?`;
const STRING = new RegExp(String.raw`^\(?'((?:[^']|'')*)'${CAST}\)?${CAST}$`);
const NUMBER = new RegExp(String.raw`^\(?(-?\d+(?:\.\d+)?)\)?${CAST}$`);
const LIST = new RegExp(String.raw`^\(?ARRAY\[((?:'(?:[^']|'')*'[^',]*(?:, )?)*)\]\)?${CAST}$`);

/** Types whose values are the same text in a default and in a row. */
const AS_WRITTEN = new Set(["text", "varchar", "citext", "uuid"]);

/**
 * The value of a column's default as a record has it, if the default is a constant. Otherwise undefined: only the
 * database knows what `now()` will be.
 */
export function columnDefault(column: CatalogColumn, field: Field): Json | undefined {
  const expression = column.default ?? "";
  const text = STRING.exec(expression)?.[1]?.replaceAll("''", "'");
  const number =
    NUMBER.exec(expression)?.[1] ?? (text !== undefined && /^-?\d+(\.\d+)?$/.test(text) ? text : undefined);
  const value = constantOf(column, field, { expression, text, number });
  if (value === undefined || value === null || !fits(field, value)) return undefined;
  // A name that the server fills in is just a text to a table.
  return isFilledByServer({ ...field, default: value }) ? undefined : value;
}

function constantOf(
  { type, length }: CatalogColumn,
  field: Field,
  { expression, text, number }: { expression: string; text: string | undefined; number: string | undefined },
): Json | undefined {
  switch (field.type) {
    case "string":
      if (type === "numeric") return number;
      if (type === "bpchar") return text?.padEnd(length ?? 0);
      return AS_WRITTEN.has(type) || (type === "date" && /^\d{4}-\d\d-\d\d$/.test(text ?? "")) ? text : undefined;
    case "number":
    case "integer":
      return number === undefined ? undefined : Number(number);
    case "boolean":
      return expression === "true" ? true : expression === "false" ? false : undefined;
    case "enum":
      return text;
    case "array": {
      const items = text === "{}" ? "" : LIST.exec(expression)?.[1];
      return items === undefined || (items !== "" && !AS_WRITTEN.has(type)) ? undefined : stringsOf(items);
    }
    case "json":
      return text === undefined ? undefined : parsed(text);
    case "datetime":
      // Postgres writes it in the time zone of the session.
      return undefined;
  }
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // A composite type: `(1,2)`
    return undefined;
  }
}
