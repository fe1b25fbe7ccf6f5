import type { Principal } from "./participant.ts";
import type { Refusal } from "./refusal.ts";
import { checkModel, deny, isWithin, readableModels } from "./scope.ts";
import { organizationGroup } from "./sync-group.ts";

/** What a reader gets to hear: what was asked for, within the token's scope; undefined is everything. Models in lower case. */
export interface View {
  readonly models: ReadonlySet<string> | undefined;
  readonly groups: ReadonlySet<string> | undefined;
}

/** Asking for something beyond the scope is refused; asking for nothing in particular gets all that is within it. */
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
  for (const name of models ?? []) {
    const hidden = checkModel({ organization, scope }, name);
    if (hidden) return hidden;
  }
  const foreign = groups?.find((group) => !isWithin(scope, [group]));
  if (foreign !== undefined)
    return deny({ can: "read", model: models?.[0] ?? "*", syncGroup: foreign }, { param: "group" });
  return { models: asked.models ?? readableModels(scope), groups: groups ? asked.groups : scope.groups };
}

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
