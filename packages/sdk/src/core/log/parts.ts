import type { FollowedConditions, FollowedRecords } from "../../protocol/log/followed-records.ts";
import { partText } from "./part-text.ts";
import type { Scope } from "./rows.ts";
import { scopeKey } from "./scope-key.ts";

/*
 * The parts of a scope are the conditions in its lists. Rows of one scope become those of another that differs only in
 * its parts by reading those that are new, and by dropping what is in none of the others.
 */

/** By model, as the scope spells it. */
type Parts = Readonly<Record<string, readonly FollowedConditions[]>>;

/**
 * The parts that `want` has and `have` lacks, as a scope of their own. Undefined: none is new, or the scopes differ in
 * more than their parts.
 */
export function missingParts(have: Scope, want: Scope): Scope | undefined {
  if (!differInParts(have, want)) return undefined;
  const known = partsOf(have);
  const missing = Object.entries(partsOf(want))
    .map(([model, parts]) => [model, parts.filter(isNotIn(known[model] ?? []))] as const)
    .filter(([, parts]) => parts.length > 0);
  if (missing.length === 0) return undefined;
  const models = missing.map(([model]) => model);
  return { models, ...(want.groups && { groups: want.groups }), where: Object.fromEntries(missing) as FollowedRecords };
}

/** Whether two scopes differ in their parts at most. */
export const differInParts = (a: Scope, b: Scope): boolean => scopeKey(withParts(a, {})) === scopeKey(withParts(b, {}));

/** Whether a scope has all the parts of another one, which limits all its models by parts. */
export function hasParts(scope: Scope, { models, groups, where = {} }: Scope): boolean {
  const known = partsOf(scope);
  return (
    scopeKey({ groups: scope.groups }) === scopeKey({ groups }) &&
    models?.length === Object.keys(where).length &&
    Object.entries(where).every(
      ([model, parts]) => known[model] && Array.isArray(parts) && !parts.some(isNotIn(known[model])),
    )
  );
}

/** The scope of rows to which parts were added, without the parts that are wanted no longer. */
export function reachedScope(have: Scope, added: Scope, want: Scope): Scope {
  const [old, read] = [partsOf(have), partsOf(added)];
  const reached = Object.entries(partsOf(want)).map(([model, parts]) => {
    const isMissing = isNotIn([...(old[model] ?? []), ...(read[model] ?? [])]);
    return [model, parts.filter((part) => !isMissing(part))] as const;
  });
  return withParts(want, Object.fromEntries(reached));
}

/** The parts of the models of which `have` has some that `reached` lacks: other records of these models go. */
export function partsLeft(have: Scope, reached: Scope): Parts {
  const left = partsOf(reached);
  const dropped = Object.entries(partsOf(have)).filter(([model, parts]) => parts.some(isNotIn(left[model] ?? [])));
  return Object.fromEntries(dropped.map(([model]) => [model, left[model] ?? []]));
}

const partsOf = ({ where = {} }: Scope): Parts =>
  Object.fromEntries(Object.entries(where).filter(([, wanted]) => Array.isArray(wanted))) as Parts;

/** The scope with these parts in the place of its own. */
function withParts(scope: Scope, parts: Parts): Scope {
  if (!scope.where) return scope;
  const where = Object.entries(scope.where).map(
    ([model, wanted]) => [model, Array.isArray(wanted) ? [...(parts[model] ?? [])] : wanted] as const,
  );
  return { ...scope, where: Object.fromEntries(where) };
}

function isNotIn(parts: readonly FollowedConditions[]): (part: FollowedConditions) => boolean {
  const known = new Set(parts.map(partText));
  return (part) => !known.has(partText(part));
}
