import {
  type FollowedConditions,
  type FollowedRecords,
  type JsonObject,
  limits,
  type Model,
  type Verb,
} from "@holdfast/sdk/protocol";
import { isRefusal, type Refusal, refuse } from "../../refusal.ts";
import type { DeclaredModel } from "../../schema/rules/declared-model.ts";
import { organizationGroup } from "../../schema/rules/sync-group.ts";
import type { Principal } from "../../tokens/rules/participant.ts";
import { checkModel, deny, isWithin, readableModels } from "../../tokens/rules/scope.ts";
import { type PartsJudge, partsJudge } from "./judge-parts.ts";

/** What a reader asks for. An absent member does not limit it. */
export interface ViewRequest {
  readonly models?: readonly string[] | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly where?: FollowedRecords | undefined;
}

/**
 * The models and groups that a reader receives: the requested ones within the token's scope. Undefined: all. Models in
 * lower case. `where` limits the records further, and has no part in what the token allows.
 */
export interface View {
  readonly models: ReadonlySet<string> | undefined;
  readonly groups: ReadonlySet<string> | undefined;
  readonly where?: FollowedRecords | undefined;
}

/** Refuses conditions that are too long for an address. */
export function checkLength({ where }: ViewRequest): Refusal | undefined {
  if (!where || JSON.stringify(where).length <= limits.followedLength) return undefined;
  const message = `"where" can have up to ${limits.followedLength} characters as JSON.`;
  return refuse("invalid_value", { param: "where", message });
}

/**
 * Limits a request to the token's scope. A request that the scope covers no part of is refused. Without a request, the
 * view is the whole scope.
 */
export function viewOf(
  { organization, scope }: Pick<Principal, "organization" | "scope">,
  { models, groups, where }: ViewRequest,
): View | Refusal {
  const whole = organizationGroup(organization);
  const asked = {
    models: models && new Set(models.map((name) => name.toLowerCase())),
    groups: groups === undefined || groups.includes(whole) ? undefined : new Set(groups),
  };
  const limited = where && { where };
  if (scope === undefined) return { ...asked, ...limited };
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
    ...limited,
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

/** The models of a view that are declared and whose tables can be read, by declared name. A view may also contain models that are not pushed yet. */
export const coveredModels = (
  { models }: View,
  declared: { readonly models: ReadonlyMap<string, DeclaredModel>; readonly unreadable: readonly string[] },
): string[] =>
  [...declared.models]
    .filter(([key]) => (!models || models.has(key)) && !declared.unreadable.includes(key))
    .map(([, { name }]) => name);

/** A key that is equal for equal views, whatever the order of their names. */
export const viewName = ({ models, groups, where }: View): string =>
  models || groups || where
    ? JSON.stringify([models ? [...models].sort() : 0, groups ? [...groups].sort() : 0, ...(where ? [where] : [])])
    : "";

export const isSameView = (a: View, b: View): boolean => viewName(a) === viewName(b);

export interface Filed {
  readonly model: string;
  readonly groups: readonly string[];
  readonly groupsBefore: readonly string[] | null;
}

/** An entry with its record. `changedFields` is null if it is not known which fields an update wrote. */
export interface FiledEntry extends Filed {
  readonly id: string;
  readonly verb: Verb;
  /** Null: the record has ended, or its values were erased. */
  data(): JsonObject | null;
  changedFields(): readonly string[] | null;
  /** Of an update or a delete: the values before it; null: there was no record. Undefined: they are not known. */
  readonly dataBefore: JsonObject | null | undefined;
}

/** `whole`: unchanged. `entered`: the reader may not have seen the record before. `left`: the record has left the reader's groups, so the entry is sent as a deletion. */
export type Sight = "whole" | "entered" | "left" | "hidden";

export function sightOf(view: View, entry: FiledEntry, models: ReadonlyMap<string, DeclaredModel>): Sight {
  if (view.models && !view.models.has(entry.model)) return "hidden";
  const sight = sightByGroup(view.groups, entry);
  const isThere = sight === "whole" || sight === "entered";
  const followed = isThere && view.where ? followedBy(view, models).get(entry.model) : undefined;
  if (!followed) return sight;
  const sightOfRecord = sightByRecord(followed, entry);
  return sightOfRecord === "whole" ? sight : sightOfRecord;
}

function sightByGroup(groups: View["groups"], entry: Filed): Sight {
  if (!groups) return "whole";
  const wasThere = entry.groupsBefore?.some((group) => groups.has(group));
  if (entry.groups.some((group) => groups.has(group))) return wasThere === false ? "entered" : "whole";
  return wasThere ? "left" : "hidden";
}

/**
 * The log has a record's state after each entry. What it was before is known only of updates and deletes that this
 * process has just committed. Of others, a reader gets each delete, and a `left` for each record that does not meet the
 * conditions after one of their fields was written: it may have met them before.
 */
function sightByRecord(followed: PartsJudge, entry: FiledEntry): Sight {
  const { id, verb, dataBefore } = entry;
  const data = entry.data();
  const wasMet = dataBefore ? followed.isMet(id, dataBefore) : false;
  if (data === null) return wasMet || !isEndKnown(entry) ? "whole" : "hidden";
  const isMet = followed.isMet(id, data);
  if (verb !== "updated") return isMet ? "whole" : "hidden";
  if (dataBefore !== undefined) {
    if (isMet) return wasMet ? "whole" : "entered";
    return wasMet ? "left" : "hidden";
  }
  const changed = entry.changedFields();
  const mayDiffer = changed === null || changed.some((name) => followed.names.has(name));
  if (isMet) return mayDiffer ? "entered" : "whole";
  return mayDiffer ? "left" : "hidden";
}

/** Whether it is known what the entry has ended. An erasure concerns all that may ever have had the record. */
export const isEndKnown = ({ verb, dataBefore }: Pick<FiledEntry, "verb" | "dataBefore">): boolean =>
  verb === "deleted" && dataBefore !== undefined;

const compiled = new WeakMap<View, { models: unknown; followed: ReadonlyMap<string, PartsJudge> }>();

/** Once per view and schema. */
function followedBy(view: View, models: ReadonlyMap<string, DeclaredModel>): ReadonlyMap<string, PartsJudge> {
  const known = compiled.get(view);
  if (known?.models === models) return known.followed;
  const followed = new Map<string, PartsJudge>();
  for (const [name, { model, alternatives }] of followedParts(view, models))
    followed.set(name, partsJudge(alternatives, model));
  compiled.set(view, { models, followed });
  return followed;
}

/** The parts of a model: the records that meet all conditions of one of these alternatives. */
export interface FollowedParts {
  readonly model: Model;
  readonly alternatives: readonly FollowedConditions[];
}

/** By model in lower case. A model that is not declared has no records. */
export function followedParts(
  { where = {} }: View,
  models: ReadonlyMap<string, DeclaredModel>,
): ReadonlyMap<string, FollowedParts> {
  const parts = new Map<string, FollowedParts>();
  for (const [name, conditions] of Object.entries(where)) {
    const declared = models.get(name.toLowerCase());
    if (declared) parts.set(name.toLowerCase(), { model: declared.model, alternatives: [conditions].flat() });
  }
  return parts;
}
