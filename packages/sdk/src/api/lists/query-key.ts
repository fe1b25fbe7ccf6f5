import { tableOf } from "../../core/log/tables.ts";
import { odd } from "../../errors.ts";
import { clientLimits as limits } from "../../protocol/client-limits.ts";
import type { Json } from "../../protocol/json.ts";
import { jsonEqual } from "../../protocol/json-equal.ts";
import { isPlainObject } from "../../protocol/json-problem.ts";

/** The same for queries of a model that ask for the same. */
export const queryKey = (model: string, query: unknown): string => `${tableOf(model)} ${textOf(query)}`;

/**
 * The texts of queries that were asked before. `was`: what the query said then. Most are asked for once, so it is noted
 * the second time.
 */
const asked = new WeakMap<object, { readonly text: string; readonly was?: Json }>();

/** What is shown is asked for after each change, by most with the same object. If it says the same, so does its text. */
function textOf(query: unknown): string {
  if (!isHolder(query)) return JSON.stringify(query, apart);
  const known = asked.get(query);
  if (known?.was && jsonEqual(known.was, query as Json)) return known.text;
  if (!isJson(query)) return JSON.stringify(query, apart);
  const text = JSON.stringify(query);
  asked.set(query, { text, ...(known && { was: JSON.parse(text) as Json }) });
  return text;
}

/** An item that an array leaves out counts as undefined. Throws for what is nested too deep, or is within itself. */
function isJson(value: unknown, level = 0): boolean {
  if (!isHolder(value)) return isScalar(value);
  if (level > limits.jsonDepth) throw odd("query", `query is nested deeper than ${limits.jsonDepth} levels.`);
  let isAll = true;
  for (const each of Array.isArray(value) ? value : Object.values(value)) isAll = isJson(each, level + 1) && isAll;
  return isAll;
}

const isScalar = (value: unknown): boolean =>
  typeof value === "string" ? value[0] !== "\0" : value === null || value === !!value || Number.isFinite(value);

const isHolder = (value: unknown): value is object => Array.isArray(value) || isPlainObject(value);

/**
 * Marks values that JSON would drop or change, and strings that begin like a mark, so that a wrong query never has the
 * key of a right one.
 */
function apart(this: Readonly<Record<string, unknown>>, key: string): unknown {
  const own = this[key];
  return isScalar(own) || isHolder(own) ? own : `\0${typeof own}${String(own)}`;
}
