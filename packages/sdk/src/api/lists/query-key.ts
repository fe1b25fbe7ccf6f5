import { tableOf } from "../../core/log/tables.ts";
import { isPlainObject } from "../../protocol/json-problem.ts";

/** The same for queries of a model that ask for the same. */
export const queryKey = (model: string, query: unknown): string => `${tableOf(model)} ${JSON.stringify(query, apart)}`;

/**
 * Marks values that JSON would drop or change, and strings that begin like a mark, so that a wrong query never has the
 * key of a right one. Each render of a page asks for the keys of its lists: this is quick.
 */
function apart(this: Readonly<Record<string, unknown>>, key: string): unknown {
  const own = this[key];
  const isJson =
    typeof own === "string"
      ? own[0] !== "\0"
      : own === null || own === !!own || Number.isFinite(own) || Array.isArray(own) || isPlainObject(own);
  return isJson ? own : `\0${typeof own}${String(own)}`;
}
