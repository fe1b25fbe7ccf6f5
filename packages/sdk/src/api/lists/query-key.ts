import { tableOf } from "../../core/log/tables.ts";
import { isPlainObject, jsonProblem } from "../../protocol/json-problem.ts";

/** The same for queries of a model that ask for the same. */
export const queryKey = (model: string, query: unknown): string => `${tableOf(model)} ${JSON.stringify(query, apart)}`;

/**
 * Marks values that JSON would drop or change, and strings with NUL, so that a wrong query never has the key of a right
 * one.
 */
function apart(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const own = this[key];
  const isJson = Array.isArray(own) || isPlainObject(own) || !jsonProblem(own);
  return isJson ? own : `\0${typeof own}${String(value)}`;
}
