import { tableOf } from "../../core/log/tables.ts";
import type { Row } from "../../protocol/commits/apply.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";

declare const process: { readonly env: { readonly NODE_ENV?: string } };

/** A row as the app is given it. The same row is given as the same object. */
export type ShowRow = (table: string, row: Row) => Row;

/**
 * Rows that were written before a field got its default have none: the schema says that they read as if they had. What lies
 * in the store stays as the log has it, so that another version of the app reads it by its own schema.
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

/** A default is the schema's own: rows hold copies. */
const copyOf = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

/** Bundlers put the word in its place. Where there is none, it counts as production. */
function isDevelopment(): boolean {
  try {
    return process.env.NODE_ENV !== "production";
  } catch {
    return false;
  }
}

/**
 * While an app is developed its rows are frozen: a change in place would be shown by accident, and written never. In
 * production nobody pays for it.
 */
export const asGiven: <T extends Json>(data: T) => T = isDevelopment() ? frozen : (data) => data;

function frozen<T extends Json>(data: T): T {
  if (typeof data !== "object" || data === null || Object.isFrozen(data)) return data;
  for (const value of Object.values(data)) frozen(value as Json);
  return Object.freeze(data);
}
