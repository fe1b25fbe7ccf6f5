import { isRefusal, type Refusal } from "../refusal.ts";
import type { DeclaredModel } from "../schema/declared-model.ts";
import { organizationGroup } from "../schema/sync-group.ts";
import type { Principal } from "../tokens/participant.ts";
import { checkModel, deny, isWithin, readableModels } from "../tokens/scope.ts";

/** What a reader gets to hear: what was asked for, within the token's scope; undefined is everything. Models in lower case. */
export interface View {
  readonly models: ReadonlySet<string> | undefined;
  readonly groups: ReadonlySet<string> | undefined;
}

/** What is asked for, within the scope. A request of which the scope covers nothing is refused; asking for nothing in particular gets all of the scope. */
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
    // The whole organization, asked for by a token of some groups, is those groups.
    groups: heard && asked.groups ? new Set(heard) : scope.groups,
  };
}

/** Those of the names that are not refused; the first refusal, if all of them are. */
function coveredOf(
  names: readonly string[] | undefined,
  check: (name: string) => Refusal | undefined,
): readonly string[] | undefined | Refusal {
  if (names === undefined) return undefined;
  const refusals = names.map(check);
  const covered = names.filter((_, i) => refusals[i] === undefined);
  return covered.length === 0 ? (refusals[0] ?? covered) : covered;
}

/** Everything that a token's bearer may read. */
export const viewOfToken = ({ scope }: Pick<Principal, "scope">): View => ({
  models: scope && readableModels(scope),
  groups: scope?.groups,
});

/** The declared models in a view, as declared. A model that is not pushed yet may be in the view, and is not among these. */
export const coveredModels = ({ models }: View, declared: ReadonlyMap<string, DeclaredModel>): string[] =>
  [...declared].filter(([key]) => !models || models.has(key)).map(([, { name }]) => name);

/** The same for the same view, whatever the order it was asked for in. */
export const viewName = ({ models, groups }: View): string =>
  models || groups ? JSON.stringify([models ? [...models].sort() : 0, groups ? [...groups].sort() : 0]) : "";

export const isSameView = (a: View, b: View): boolean => viewName(a) === viewName(b);

export interface Filed {
  readonly model: string;
  readonly groups: readonly string[];
  readonly groupsBefore: readonly string[] | null;
}

/** `whole`: as it is. `left`: it went out of the reader's groups, and is told as a deletion. */
export type Sight = "whole" | "left" | "hidden";

export function sightOf(view: View, entry: Filed): Sight {
  if (view.models && !view.models.has(entry.model)) return "hidden";
  if (!view.groups) return "whole";
  const { groups } = view;
  if (entry.groups.some((group) => groups.has(group))) return "whole";
  return entry.groupsBefore?.some((group) => groups.has(group)) ? "left" : "hidden";
}
