import type { Json, JsonObject } from "../json.ts";
import { ownValue } from "../own-value.ts";
import type { Field, Model } from "../schema/model-schema.ts";

/** What an array can gain and lose by a change. */
export type Item = string | number | boolean;

/**
 * A change of a value, instead of a value: it is applied to whatever is there when the write happens, so that changes of
 * several people all count and never conflict.
 */
export type FieldChange =
  /** A number: how much is added. A value that is absent or null counts as 0. */
  | { readonly increment: number }
  /** An array: items that it shall not have, and items that it shall have, each once; those it lacks go to its end. */
  | { readonly add?: readonly Item[]; readonly remove?: readonly Item[] };

/** Field name → its change. */
export type FieldChanges = Readonly<Record<string, FieldChange>>;

export const isIncrement = (change: FieldChange): change is { readonly increment: number } => "increment" in change;

/** Whether a field is of a type that has this change. */
export const takesChange = ({ type }: Field, change: FieldChange): boolean =>
  isIncrement(change) ? type === "number" || type === "integer" : type === "array";

/**
 * The value after the change; the same object, if nothing changes. May be a number that no field takes: see isOutOfRange.
 * Arrays can be as large as a record, so only the items of the change are looked up.
 */
export function changedValue(value: Json | undefined, change: FieldChange): Json | undefined {
  if (isIncrement(change)) return (typeof value === "number" ? value : 0) + change.increment;
  const { add = [], remove = [] } = change;
  const gone = new Set<Json>(remove);
  const before: readonly Json[] = Array.isArray(value) ? value : [];
  const kept = gone.size > 0 ? before.filter((item) => !gone.has(item)) : before;
  const missing = new Set<Json>(add);
  for (const item of kept) missing.delete(item);
  return kept.length === before.length && missing.size === 0 ? value : [...kept, ...missing];
}

/** Integers go up to 2^53 - 1, and doubles as far as doubles go. */
export const isOutOfRange = (field: Field | undefined, value: Json): boolean =>
  typeof value === "number" &&
  !(Math.abs(value) <= (field?.type === "integer" ? Number.MAX_SAFE_INTEGER : Number.MAX_VALUE));

/** The values of a record's changed fields. One that was never written starts with the field's default. */
export function changedValues(data: JsonObject, changes: FieldChanges, model: Model | undefined): JsonObject {
  const startOf = (name: string) =>
    Object.hasOwn(data, name) ? data[name] : (ownValue(model?.fields, name)?.default as Json | undefined);
  return Object.fromEntries(
    Object.entries(changes).flatMap(([name, change]) => {
      const value = changedValue(startOf(name), change);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The fields that an update writes. */
export const writtenFields = (update: {
  readonly data?: object | undefined;
  readonly changes?: FieldChanges | undefined;
}): readonly string[] => [...Object.keys(update.data ?? {}), ...Object.keys(update.changes ?? {})];
