import { organizationGroup } from "./sync-group.ts";

/** What a reader asked to hear: undefined is everything. Names of models are in lower case. */
export interface View {
  readonly models: ReadonlySet<string> | undefined;
  readonly groups: ReadonlySet<string> | undefined;
}

export const viewOf = (
  organization: string,
  models: readonly string[] | undefined,
  groups: readonly string[] | undefined,
): View => ({
  models: models && new Set(models.map((name) => name.toLowerCase())),
  groups: groups === undefined || groups.includes(organizationGroup(organization)) ? undefined : new Set(groups),
});

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
