import type { FollowedConditions, FollowedRecords } from "../../protocol/log/followed-records.ts";
import type { Scope } from "./rows.ts";

/** One string per scope, independent of the order of its names. "" means everything. */
export function scopeKey({ models, groups, where }: Scope): string {
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

/** Whether two scopes, by their keys, are one. Absent: everything. */
export const isSameScope = (a: string | undefined, b: string | undefined): boolean => (a ?? "") === (b ?? "");

const sorted = (where: FollowedRecords) =>
  Object.entries(where)
    .map(([model, wanted]) => [model, Array.isArray(wanted) ? [...wanted].sort(byText) : wanted] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));

const byText = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
