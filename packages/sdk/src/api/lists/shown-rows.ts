import { tableOf } from "../../core/log/tables.ts";
import type { Row } from "../../protocol/commits/apply.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";

declare const process: { readonly env: { readonly NODE_ENV?: string } };

/** Converts a row for the app. The same row always gives the same object. */
export type ShowRow = (table: string, row: Row) => Row;

/**
 * Fills in defaults for rows that were written before a field had one. The stored rows stay as in the log, so that
 * another version of the app can apply its own schema.
 */
export function shownRows(models: Readonly<Record<string, Model>>): ShowRow {
  const defaults = new Map(
    Object.entries(models).map(([name, { fields }]) => [
      tableOf(name),
      Object.entries(fields).filter(([, field]) => field.default !== undefined),
    ]),
  );
  const filled = new WeakMap<JsonObject, JsonObject>();

  return (table, row) => {
    const missing = (defaults.get(table) ?? []).filter(([name]) => !Object.hasOwn(row.data, name));
    if (missing.length === 0) return row;
    let data = filled.get(row.data);
    if (!data) {
      const values = missing.map(([name, field]) => [name, copyOf(field.default)]);
      data = { ...row.data, ...(Object.fromEntries(values) as JsonObject) };
      filled.set(row.data, data);
    }
    return { ...row, data };
  };
}

/** Rows get copies of a default, because the original belongs to the schema. */
const copyOf = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

/** Bundlers replace the expression. Without a bundler, it counts as production. */
function isDevelopment(): boolean {
  try {
    return process.env.NODE_ENV !== "production";
  } catch {
    return false;
  }
}

/**
 * In development, rows are frozen: a change in place would show up by accident and never be saved. Production skips the
 * cost.
 */
export const asGiven: <T extends Json>(data: T) => T = isDevelopment() ? frozen : (data) => data;

function frozen<T extends Json>(data: T): T {
  if (typeof data !== "object" || data === null || Object.isFrozen(data)) return data;
  for (const value of Object.values(data)) frozen(value as Json);
  return Object.freeze(data);
}
