import { isRefusal, type Refusal } from "../refusal.ts";
import type { DeclaredModel } from "../schema/declared-model.ts";
import { organizationGroup } from "../schema/sync-group.ts";
import type { Principal } from "../tokens/participant.ts";
import { checkModel, deny, isWithin, readableModels } from "../tokens/scope.ts";

/**
 * The models and groups that a reader receives: the requested ones within the token's scope. Undefined: all. Models in
 * lower case.
 */
export interface View {
  readonly models: ReadonlySet<string> | undefined;
  readonly groups: ReadonlySet<string> | undefined;
}

/**
 * Limits a request to the token's scope. A request that the scope covers no part of is refused. Without a request, the
 * view is the whole scope.
 */
export function viewOf(
  { organization, scope }: Pick<Principal, "organization" | "scope">,
  models: readonly string[] | undefined,
  groups: readonly string[] | undefined,
): View | Refusal {
  const whole = organizationGroup(organization);
  const asked = {
    models: models && new Set(models.map((name) => name.toLowerCase())),
    groups: groups === undefined || groups.includes(whole) ? undefined : new Set(groups),
  };
  if (scope === undefined) return asked;
  const readable = coveredOf(models, (name) => checkModel({ organization, scope }, name));
  if (isRefusal(readable)) return readable;
  const heard = coveredOf(groups, (group) =>
    isWithin(scope, [group])
      ? undefined
      : deny({ can: "read", model: models?.[0] ?? "*", syncGroup: group }, { param: "group" }),
  );
  if (isRefusal(heard)) return heard;
  return {
    models: readable ? new Set(readable.map((name) => name.toLowerCase())) : readableModels(scope),
    // A scoped token that requests the whole organization gets the groups of its scope.
    groups: heard && asked.groups ? new Set(heard) : scope.groups,
  };
}

/** The names that are not refused. If all are refused, the first refusal. */
function coveredOf(
  names: readonly string[] | undefined,
  check: (name: string) => Refusal | undefined,
): readonly string[] | undefined | Refusal {
  if (names === undefined) return undefined;
  const refusals = names.map(check);
  const covered = names.filter((_, i) => refusals[i] === undefined);
  return covered.length === 0 ? (refusals[0] ?? covered) : covered;
}

/** Everything that a token may read. */
export const viewOfToken = ({ scope }: Pick<Principal, "scope">): View => ({
  models: scope && readableModels(scope),
  groups: scope?.groups,
});

/** The models of a view that are declared, by declared name. A view may also contain models that are not pushed yet. */
export const coveredModels = ({ models }: View, declared: ReadonlyMap<string, DeclaredModel>): string[] =>
  [...declared].filter(([key]) => !models || models.has(key)).map(([, { name }]) => name);

/** A key that is equal for equal views, whatever the order of their names. */
export const viewName = ({ models, groups }: View): string =>
  models || groups ? JSON.stringify([models ? [...models].sort() : 0, groups ? [...groups].sort() : 0]) : "";

export const isSameView = (a: View, b: View): boolean => viewName(a) === viewName(b);

export interface Filed {
  readonly model: string;
  readonly groups: readonly string[];
  readonly groupsBefore: readonly string[] | null;
}

/** `whole`: unchanged. `left`: the record has left the reader's groups, so the entry is sent as a deletion. */
export type Sight = "whole" | "left" | "hidden";

export function sightOf(view: View, entry: Filed): Sight {
  if (view.models && !view.models.has(entry.model)) return "hidden";
  if (!view.groups) return "whole";
  const { groups } = view;
  if (entry.groups.some((group) => groups.has(group))) return "whole";
  return entry.groupsBefore?.some((group) => groups.has(group)) ? "left" : "hidden";
}
