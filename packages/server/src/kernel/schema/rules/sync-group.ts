import { groupProblem, isSyncGroup, type Json, type JsonObject, type Model, ownValue } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";

/** The group of a whole organization. Every record of its tenant belongs to it, so it is never stored. */
export const organizationGroup = (organization: string): string => `org:${organization}`;

/**
 * The groups of a row besides its organization's: sorted and unique. Skips values that are no valid group name: they
 * were written before their field named a group.
 */
export function groupsOf(model: Pick<Model, "groups">, data: JsonObject): readonly string[] {
  const groups: string[] = [];
  for (const { kind, from } of model.groups ?? []) {
    const value = fieldOf(data, from);
    const group = `${kind}:${value}`;
    if (isPresent(value) && isSyncGroup(group) && !groups.includes(group)) groups.push(group);
  }
  return groups.sort();
}

/** Refuses a row whose group field has a value that is no valid group name. */
export function checkGroups(model: Model, data: JsonObject): Refusal | undefined {
  const problem = groupProblem(model, data);
  return problem && refuse(problem.code, problem);
}

/** A field may have the name of an object method, such as `toString`, hence `hasOwn`. */
const fieldOf = (data: JsonObject, name: string): Json | undefined => ownValue(data, name);

const isPresent = (value: Json | undefined): value is string | number | boolean =>
  value !== undefined && value !== null;
