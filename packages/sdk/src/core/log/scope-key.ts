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

/**
 * The scope together with what was loaded under it before: rows on disk of a model of which the app follows none by
 * itself stay followed, so that they are shown at once and not read again.
 */
export function withLoaded(scope: Scope, key: string | undefined): Scope {
  if (!scope.where || !key) return scope;
  const { where: loadedWhere, ...before } = scopeOf(key);
  if (!loadedWhere || scopeKey(before) !== scopeKey({ ...scope, where: undefined })) return scope;
  const loaded = new Map(Object.entries(loadedWhere));
  const where = Object.entries(scope.where).map(([model, wanted]) => {
    const found = loaded.get(model);
    return [model, Array.isArray(wanted) && Array.isArray(found) ? union(wanted, found) : wanted] as const;
  });
  return { ...scope, where: Object.fromEntries(where) };
}

function union(wanted: readonly FollowedConditions[], found: readonly FollowedConditions[]): FollowedConditions[] {
  const known = new Set(wanted.map((one) => JSON.stringify(one)));
  return [...wanted, ...found.filter((one) => !known.has(JSON.stringify(one)))];
}
