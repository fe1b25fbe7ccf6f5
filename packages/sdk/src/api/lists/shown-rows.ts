import { tableOf } from "../../core/log/tables.ts";
import type { Row } from "../../protocol/commits/apply.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import { isFilledByServer } from "../../protocol/schema/field-value.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";

declare const process: { readonly env: { readonly NODE_ENV?: string } };

/** Converts rows for the app. */
export interface ShownRows {
  /** The same row gives the same object, until something changes that the app has read of it. */
  show(table: string, row: Row): Row;
  /** Makes an object ready for the app. `base`: the object of `show` that this one is a copy of. */
  give(table: string, data: JsonObject, base?: JsonObject): JsonObject;
}

/**
 * Fills in defaults for rows that were written before a field had one. The stored rows stay as in the log, so that
 * another version of the app can apply its own schema. `facts`: what adds `$createdAt` and the like, once it is loaded.
 */
export function shownRows(models: Readonly<Record<string, Model>>, facts?: () => ShownRows | undefined): ShownRows {
  const defaults = new Map(
    Object.entries(models).map(([name, { fields }]) => [
      tableOf(name),
      Object.entries(fields).filter(([, field]) => field.default !== undefined && !isFilledByServer(field)),
    ]),
  );
  const filled = new WeakMap<JsonObject, JsonObject>();

  const fill = (table: string, row: Row): Row => {
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
  return {
    show(table, row) {
      const filled = fill(table, row);
      return facts?.()?.show(table, filled) ?? filled;
    },
    give: (table, data, base) => asGiven(facts?.()?.give(table, data, base) ?? data),
  };
}

/** What belongs to the app may change later: a default of its schema, the conditions of a query. */
export const copyOf = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

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
