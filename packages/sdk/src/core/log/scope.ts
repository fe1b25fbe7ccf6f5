import type { FollowedConditions, FollowedRecords } from "../../protocol/log/followed-records.ts";
import { type Draft, emit, set } from "../draft.ts";
import type { ClientEvent } from "../events.ts";
import { dropPartial } from "./reading.ts";
import type { Scope } from "./rows.ts";

/** One string per scope, independent of the order of its names. "" means everything. */
export function scopeKey({ models, groups, where }: Scope): string {
  if (!models && !groups && !where) return "";
  const names = [models && [...models].sort(), groups && [...groups].sort()];
  return JSON.stringify(where ? [...names, sorted(where)] : names);
}

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
  const [models, groups, entries] = JSON.parse(key) as [
    string[]?,
    string[]?,
    (readonly [string, FollowedConditions[]])[]?,
  ];
  const before = { models: models ?? undefined, groups: groups ?? undefined };
  if (!entries || scopeKey(before) !== scopeKey({ ...scope, where: undefined })) return scope;
  const loaded = new Map(entries);
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

/** The app wants other records. Read the rows again, and show the present ones until then. */
export function onFollowed(draft: Draft, scope: Scope): void {
  if (scopeKey(scope) === scopeKey(draft.state.scope)) return;
  set(draft, { scope });
  checkScope(draft);
}

/** Requests new rows if the present ones were read for another scope. */
export function checkScope(draft: Draft): void {
  const { rows, reading, scope } = draft.state;
  const wanted = scopeKey(scope);
  if (reading.partial && (reading.partial.scope ?? "") !== wanted) dropPartial(draft);
  if (rows.position === undefined || (rows.scope ?? "") === wanted || reading.resync !== "no") return;
  set(draft, { reading: { ...draft.state.reading, resync: "anew" } });
}

export function onScope(draft: Draft, event: Extract<ClientEvent, { type: "followed" }>): void {
  onFollowed(draft, event.scope);
  emit(draft, { do: "post", message: { type: "scope", scope: event.scope } });
}
