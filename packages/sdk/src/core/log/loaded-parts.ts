import { followedLimits as limits } from "../../protocol/log/followed-limits.ts";
import type { FollowedConditions } from "../../protocol/log/followed-records.ts";
import { ownValue } from "../../protocol/own-value.ts";
import type { Scope } from "./rows.ts";
import { scopeKey } from "./scope-key.ts";

type Where = NonNullable<Scope["where"]>;

/**
 * The scope together with what was loaded under another one: what the app has loaded and does not follow by itself stays,
 * as far as there is room, so that it is shown at once and not read again.
 */
export function withLoaded(scope: Scope, loaded: Scope): Scope {
  if (
    !scope.where ||
    !loaded.where ||
    scopeKey({ ...loaded, where: undefined }) !== scopeKey({ ...scope, where: undefined })
  )
    return scope;
  let { where } = scope;
  for (const model of Object.keys(where)) {
    const known = new Set(listOf(where, model).map((one) => JSON.stringify(one)));
    for (const one of Array.isArray(where[model]) ? listOf(loaded.where, model) : []) {
      const more = { ...where, [model]: [...listOf(where, model), one] };
      if (!known.has(JSON.stringify(one)) && !isTooMuch(more)) where = more;
    }
  }
  return { ...scope, where };
}

function listOf(where: Where | undefined, model: string): readonly FollowedConditions[] {
  const followed = ownValue(where, model);
  return Array.isArray(followed) ? followed : [];
}

/** The lists of conditions, by model. */
export const listsOf = (where: Where) =>
  Object.entries(where).filter(([, wanted]) => Array.isArray(wanted)) as [string, FollowedConditions[]][];

/** Whether a server would refuse to follow them. */
export function isTooMuch(where: Where): boolean {
  return (
    listsOf(where).some(([, { length }]) => length > limits.followedAlternatives) ||
    JSON.stringify(where).length > limits.followedLength
  );
}
