import { type Json, type JsonObject, type Model, ownValue } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../refusal.ts";

// `\s` does not include NUL, which Postgres cannot store. The length counts characters, not code units.
const GROUP = /^[a-z][a-z0-9_]*:[^\s\0]{1,200}$/u;

export const isSyncGroup = (group: string): boolean => GROUP.test(group);

/** The group of a whole organization. Every record of its tenant belongs to it, so it is never stored. */
export const organizationGroup = (organization: string): string => `org:${organization}`;

/**
 * The groups of a row besides its organization's: sorted and unique. Skips values that are no valid group name: they
 * were written before their field named a group.
 */
export function groupsOf(model: Model, data: JsonObject): readonly string[] {
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
  for (const { kind, from } of model.groups ?? []) {
    const value = fieldOf(data, from);
    if (isPresent(value) && !isSyncGroup(`${kind}:${value}`))
      return refuse("invalid_sync_group", {
        param: `data.${from}`,
        message: `"${from}" names a sync group: it must be 1 to 200 characters without spaces.`,
      });
  }
  return undefined;
}

/** A field may have the name of an object method, such as `toString`, hence `hasOwn`. */
const fieldOf = (data: JsonObject, name: string): Json | undefined => ownValue(data, name);

const isPresent = (value: Json | undefined): value is string | number | boolean =>
  value !== undefined && value !== null;
