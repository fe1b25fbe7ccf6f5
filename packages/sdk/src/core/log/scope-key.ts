import type { FollowedConditions, FollowedRecords } from "../../protocol/log/followed-records.ts";
import { partText } from "./part-text.ts";
import type { Scope } from "./rows.ts";

const keys = new WeakMap<Scope, string>();

/** One string per scope, independent of the order of its names. "" means everything. */
export function scopeKey(scope: Scope): string {
  const known = keys.get(scope);
  if (known !== undefined) return known;
  const key = keyOf(scope);
  keys.set(scope, key);
  return key;
}

function keyOf({ models, groups, where }: Scope): string {
  if (!models && !groups && !where) return "";
  const names = [models && [...models].sort(), groups && [...groups].sort()];
  return JSON.stringify(where ? [...names, sorted(where)] : names);
}

/** The scopes that were asked for last: those of the rows, of what is wanted, and of what is read. */
const scopes = new Map<string, Scope>();
const REMEMBERED = 200;

/** The scope of a key; the order of its names is another one. */
export function scopeOf(key: string | undefined): Scope {
  if (!key) return {};
  const known = scopes.get(key);
  if (known) return known;
  const scope = parsed(key);
  scopes.set(key, scope);
  for (const first of scopes.keys()) if (scopes.size > REMEMBERED) scopes.delete(first);
  return scope;
}

function parsed(key: string): Scope {
  const [models, groups, where] = JSON.parse(key) as [
    string[] | null | undefined,
    string[] | null | undefined,
    (readonly [string, FollowedConditions | FollowedConditions[]])[]?,
  ];
  return { ...(models && { models }), ...(groups && { groups }), ...(where && { where: Object.fromEntries(where) }) };
}

/** Whether two scopes, by their keys, are one. Absent: everything. */
export const isSameScope = (a: string | undefined, b: string | undefined): boolean => (a ?? "") === (b ?? "");

const sorted = (where: FollowedRecords) =>
  Object.entries(where)
    .map(([model, wanted]) => [model, Array.isArray(wanted) ? [...wanted].sort(byText) : wanted] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));

const byText = (a: FollowedConditions, b: FollowedConditions) => (partText(a) < partText(b) ? -1 : 1);
