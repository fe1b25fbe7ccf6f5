import type { Action } from "../commits/action.ts";
import type { Json, JsonObject } from "../json.ts";
import { jsonEqual } from "../json-equal.ts";
import { ownValue } from "../own-value.ts";
import { type BrokenRule, brokenRule } from "./field-rules.ts";
import type { Field, Model } from "./model-schema.ts";

/** A write of a record, as rules see it that depend on more than the value. */
export interface JudgedWrite {
  readonly action: Action;
  /** The values that it writes. */
  readonly values: JsonObject;
  /** The record before; of a create, one that the same commit has deleted. Undefined: it is not there. */
  readonly before: { readonly data: JsonObject; readonly createdBy: string | undefined } | undefined;
}

/** What is known of the writer. Undefined: it may be either. */
export interface RuleWriter {
  /** `<kind>:<id>` */
  readonly name: string | undefined;
  isMember(group: string): boolean | undefined;
}

export type BrokenRecordRule = BrokenRule & {
  /** Undefined: the rule is one of the model. */
  readonly field?: string;
};

/**
 * The first rule of a model or its fields that a write breaks, of those that depend on the record and its writer. A field
 * that stays as it is breaks none. `writer` is undefined if it may write everything, as a secret key. A client judges by
 * the same rules what it knows.
 */
export function brokenRecordRule(
  model: Model,
  { action, values, before }: JudgedWrite,
  writer: RuleWriter | undefined,
): BrokenRecordRule | undefined {
  const may = (writable: readonly string[] | undefined): boolean =>
    !writable || !writer || writable.some((one) => isOneOf(one, writer, { action, before }) !== false);
  const isChanged = (name: string): boolean =>
    !before || !jsonEqual(ownValue(before.data, name) ?? null, ownValue(values, name) ?? null);
  const isReplaced = action === "create" && before !== undefined;
  // A field that is left out of a record that takes another one's place loses its value.
  const names = Object.keys(isReplaced ? model.fields : values);
  if (!may(model.writableBy) && (action !== "update" || names.some(isChanged))) return notWritable(model.writableBy);
  for (const name of names) {
    const field = ownValue(model.fields, name);
    if (!field || !(field.writableBy || field.transitions || (isReplaced && field.readonlyAfterCreate))) continue;
    // The writer becomes the creator of the record.
    if (!isChanged(name) && !(isReplaced && field.writableBy?.includes(CREATOR))) continue;
    const fixed = isReplaced && field.readonlyAfterCreate && brokenRule(field, null, "update");
    if (fixed) return { ...fixed, field: name };
    if (!may(field.writableBy)) return { ...notWritable(field.writableBy), field: name };
    const broken = before && brokenTransition(field, ownValue(before.data, name), ownValue(values, name) ?? null);
    if (broken) return { ...broken, field: name };
  }
  return undefined;
}

const GROUP = "group:";
const CREATOR = "$createdBy";

/** Who creates a record is its creator. Of a record that is gone, the creator is not known any more. */
function isOneOf(
  one: string,
  writer: RuleWriter,
  { action, before }: Pick<JudgedWrite, "action" | "before">,
): boolean | undefined {
  if (one !== CREATOR) return writer.isMember(one.slice(GROUP.length));
  if (!before) return action === "create";
  return before.createdBy === undefined || writer.name === undefined ? undefined : before.createdBy === writer.name;
}

function notWritable(writable: readonly string[] = []): BrokenRule {
  const names = writable.map((one) =>
    one === CREATOR ? "the creator of the record" : `members of ${one.slice(GROUP.length)}`,
  );
  return { rule: "writableBy", demand: `can be written only by ${names.join(" and ") || "a secret key"}` };
}

/** A field without a value can get any, as in a create. One that was never written has its default. */
function brokenTransition({ transitions, default: standard }: Field, from: Json | undefined, to: Json) {
  const was = from === undefined ? standard : from;
  if (!transitions || typeof was !== "string" || was === to) return undefined;
  const targets = ownValue(transitions, was) ?? [];
  if (typeof to === "string" && targets.includes(to)) return undefined;
  const possible = targets.length > 0 ? `only to ${targets.join(", ")}` : "to no other value";
  return { rule: "transitions", demand: `can go from ${was} ${possible}` } as const;
}

/** Why a field cannot have its transitions. Undefined: it can. */
export function faultOfTransitions({ type, values = [], transitions }: Field): string | undefined {
  if (transitions === undefined) return undefined;
  if (type !== "enum") return 'Only an enum can have "transitions".';
  const other = Object.entries(transitions)
    .flatMap(([from, to]) => [from, ...to])
    .find((value) => !values.includes(value));
  return other === undefined
    ? undefined
    : `"transitions" names ${JSON.stringify(other)}, which is not a value of the enum.`;
}

/** Why this cannot be said of writers. `isGroup`: whether a name is one of a group. Undefined: it can. */
export function faultOfWriters(
  writable: readonly string[] = [],
  isGroup: (name: string) => boolean,
): string | undefined {
  const other = writable.find((one) => one !== CREATOR && !(one.startsWith(GROUP) && isGroup(one.slice(GROUP.length))));
  return other === undefined
    ? undefined
    : `"writableBy" has ${JSON.stringify(other.slice(0, 80))}: it can contain only "$createdBy", and groups like "group:team:red".`;
}
