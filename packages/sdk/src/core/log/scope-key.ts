import type { FollowedConditions, FollowedRecords } from "../../protocol/log/followed-records.ts";
import { partText } from "./part-text.ts";
import type { Scope } from "./rows.ts";

const keys = new WeakMap<Scope, string>();

/**
 * A scope as the disk and the messages between tabs have it: one string per scope, independent of the order of its names.
 * "" and undefined mean everything.
 */
export function scopeKey(scope: Scope | undefined): string {
  if (!scope) return "";
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

/** The scope of a key; the order of its names is another one. */
export function scopeOf(key: string | undefined): Scope {
  if (!key) return {};
  const [models, groups, where] = JSON.parse(key) as [
    string[] | null | undefined,
    string[] | null | undefined,
    (readonly [string, FollowedConditions | FollowedConditions[]])[]?,
  ];
  return { ...(models && { models }), ...(groups && { groups }), ...(where && { where: Object.fromEntries(where) }) };
}

const spelled = new WeakMap<Scope, Scope>();

/** The same scope in the order of its key: the server continues a read only of one that is spelled alike. */
export function asSpelled(scope: Scope): Scope {
  const known = spelled.get(scope) ?? scopeOf(scopeKey(scope));
  spelled.set(scope, known);
  return known;
}

const sorted = (where: FollowedRecords) =>
  Object.entries(where)
    .map(([model, wanted]) => [model, Array.isArray(wanted) ? [...wanted].sort(byText) : wanted] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));

const byText = (a: FollowedConditions, b: FollowedConditions) => (partText(a) < partText(b) ? -1 : 1);
