import { followedLimits as limits } from "../../protocol/log/followed-limits.ts";
import type { FollowedConditions } from "../../protocol/log/followed-records.ts";
import { ownValue } from "../../protocol/own-value.ts";
import { partText } from "./part-text.ts";
import { hasPart } from "./parts.ts";
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
    for (const one of Array.isArray(where[model]) ? listOf(loaded.where, model) : []) {
      const more = { ...where, [model]: [...listOf(where, model), one] };
      if (!hasPart(scope, model, one) && !isTooMuch(more)) where = more;
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

/** Whether they are more than a stream takes, or one of them is more than an address can name. */
export const isTooMuch = (where: Where): boolean =>
  listsOf(where).reduce((sum, [, { length }]) => sum + length, 0) > limits.loadedParts ||
  lengthOf(where) > limits.loadedLength ||
  listsOf(where).some(([model, parts]) => {
    const most = limits.followedLength - lengthOf({ ...onlyFixed(where), [model]: [] });
    return parts.some((part) => partText(part).length > most);
  });

/** As JSON. */
const lengthOf = (where: Where): number =>
  listsOf(where).reduce(
    (sum, [, parts]) => parts.reduce((of, part) => of + partText(part).length, sum + Math.max(0, parts.length - 1)),
    JSON.stringify(
      Object.fromEntries(Object.entries(where).map(([model, one]) => [model, Array.isArray(one) ? [] : one])),
    ).length,
  );

/** The conditions without their lists. */
const onlyFixed = (where: Where): Where =>
  Object.fromEntries(Object.entries(where).filter(([, wanted]) => !Array.isArray(wanted)));

/** Whether an address can name all of them. */
const fitsAddress = (where: Where): boolean =>
  listsOf(where).every(([, { length }]) => length <= limits.followedAlternatives) &&
  lengthOf(where) <= limits.followedLength;

/** The scope with as many of its parts as one request can ask for. The same scope: with all of them. */
export function firstParts(scope: Scope): Scope {
  const { where } = scope;
  if (!where || fitsAddress(where)) return scope;
  const empty = listsOf(where).map(([model]) => [model, [] as FollowedConditions[]] as const);
  let fitting: Where = { ...onlyFixed(where), ...Object.fromEntries(empty) };
  for (const [model, parts] of listsOf(where))
    for (const part of parts) {
      const more = { ...fitting, [model]: [...listOf(fitting, model), part] };
      if (!fitsAddress(more)) return { ...scope, where: fitting };
      fitting = more;
    }
  return scope;
}

/** The scope for reading the log over HTTP: models with more parts than an address can name are read whole. */
export function wideScope(scope: Scope): Scope {
  const { where } = scope;
  if (!where || fitsAddress(where)) return scope;
  const fixed = onlyFixed(where);
  return { ...scope, where: Object.keys(fixed).length > 0 ? fixed : undefined };
}
