import { tableOf } from "../../core/log/tables.ts";

/** The same for queries of a model that ask for the same. */
export const queryKey = (model: string, query: unknown): string => `${tableOf(model)} ${JSON.stringify(query, apart)}`;

/**
 * Marks values that JSON would drop or change, so that a wrong query never has the key of a right one. Record strings
 * cannot contain NUL, so the marker is unambiguous.
 */
function apart(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const own = this[key];
  const type = typeof own;
  const isJson =
    type === "number" ? Number.isFinite(own) : type === "string" || type === "boolean" || type === "object";
  return isJson && own === value ? value : `\0${type}${String(value)}`;
}
