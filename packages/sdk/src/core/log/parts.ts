import type { FollowedConditions, FollowedRecords } from "../../protocol/log/followed-records.ts";
import { partId } from "./part-id.ts";
import { everything, type Scope } from "./rows.ts";
import { scopeKey } from "./scope-key.ts";

/*
 * The parts of a scope are the conditions in its lists; the rest of it is fixed. Rows of one scope become those of
 * another that differs only in its parts by reading those that are new, and by dropping what is in none of the others.
 */

/** By model, as the scope spells it. */
type Parts = Readonly<Record<string, readonly FollowedConditions[]>>;

interface Identity {
  /** What is no part. */
  readonly fixed: string;
  readonly parts: ReadonlySet<string>;
}

const identities = new WeakMap<Scope, Identity>();

function identityOf(scope: Scope): Identity {
  const known = identities.get(scope);
  if (known) return known;
  const ids = Object.entries(asParts(scope)).flatMap(([model, parts]) => parts.map((part) => partId(model, part)));
  const identity = { fixed: scopeKey(havingParts(scope, {})), parts: new Set(ids) };
  identities.set(scope, identity);
  return identity;
}

/** Whether two scopes are one. Absent: everything. */
export function isSameScope(a: Scope = everything, b: Scope = everything): boolean {
  if (a === b) return true;
  const [{ parts }, other] = [identityOf(a), identityOf(b)];
  return differInParts(a, b) && parts.size === other.parts.size && [...parts].every((id) => other.parts.has(id));
}

/** Whether two scopes differ in their parts at most. */
export const differInParts = (a: Scope, b: Scope): boolean => identityOf(a).fixed === identityOf(b).fixed;

/** Whether a scope has a part of one of its models. */
export const hasPart = (scope: Scope, model: string, part: FollowedConditions): boolean =>
  identityOf(scope).parts.has(partId(model, part));

/**
 * The parts that `want` has and `have` lacks, as a scope of their own. Undefined: none is new, or the scopes differ in
 * more than their parts.
 */
export function missingParts(have: Scope, want: Scope): Scope | undefined {
  if (!differInParts(have, want)) return undefined;
  const missing = Object.entries(asParts(want))
    .map(([model, parts]) => [model, parts.filter((part) => !hasPart(have, model, part))] as const)
    .filter(([, parts]) => parts.length > 0);
  if (missing.length === 0) return undefined;
  const models = missing.map(([model]) => model);
  return { models, ...(want.groups && { groups: want.groups }), where: Object.fromEntries(missing) as FollowedRecords };
}

/** Whether a scope has all the parts of another one, which limits all its models by parts. */
export function hasParts(scope: Scope, { models, groups, where = {} }: Scope): boolean {
  return (
    scopeKey({ groups: scope.groups }) === scopeKey({ groups }) &&
    models?.length === Object.keys(where).length &&
    Object.entries(where).every(
      ([model, parts]) =>
        Array.isArray(scope.where?.[model]) &&
        Array.isArray(parts) &&
        parts.every((part) => hasPart(scope, model, part)),
    )
  );
}

/** The scope of rows to which parts were added, without the parts that are wanted no longer. */
export function reachedScope(have: Scope, added: Scope, want: Scope): Scope {
  const reached = Object.entries(asParts(want)).map(([model, parts]) => {
    const isThere = (part: FollowedConditions) => hasPart(have, model, part) || hasPart(added, model, part);
    return [model, parts.filter(isThere)] as const;
  });
  return havingParts(want, Object.fromEntries(reached));
}

/** The parts of the models of which `have` has some that `reached` lacks: other records of these models go. */
export function partsLeft(have: Scope, reached: Scope): Parts {
  const left = asParts(reached);
  const dropped = Object.entries(asParts(have)).filter(([model, parts]) =>
    parts.some((part) => !hasPart(reached, model, part)),
  );
  return Object.fromEntries(dropped.map(([model]) => [model, left[model] ?? []]));
}

const asParts = ({ where = {} }: Scope): Parts =>
  Object.fromEntries(Object.entries(where).filter(([, wanted]) => Array.isArray(wanted))) as Parts;

/** The scope with these parts in the place of its own. */
function havingParts(scope: Scope, parts: Parts): Scope {
  if (!scope.where) return scope;
  const where = Object.entries(scope.where).map(
    ([model, wanted]) => [model, Array.isArray(wanted) ? [...(parts[model] ?? [])] : wanted] as const,
  );
  return { ...scope, where: Object.fromEntries(where) };
}
