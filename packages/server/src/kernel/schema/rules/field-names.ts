import type { SchemaChange } from "./declared-model.ts";

/**
 * How a client with an older schema spells the fields of one model. Only names that differ are listed. Null: the other
 * side has no such field, although it has one of that name.
 */
export interface FieldNames {
  /** By the client's name. */
  readonly toNew: ReadonlyMap<string, string | null>;
  /** By the current name. */
  readonly toOld: ReadonlyMap<string, string | null>;
}

/**
 * Follows the fields of an older schema through the later changes of the model, oldest first, to the fields that it has
 * now. Undefined if all names are the same.
 */
export function fieldNames(
  older: readonly string[],
  later: readonly SchemaChange[],
  current: readonly string[],
): FieldNames | undefined {
  const now = new Map(older.map((name): [string, string] => [name, name]));
  for (const { renames } of later) {
    const taken = new Set(Object.values(renames));
    for (const [name, at] of now)
      if (Object.hasOwn(renames, at)) now.set(name, renames[at] as string);
      // A field that was removed stays hidden under its name, until another one is renamed to that name.
      else if (taken.has(at)) now.delete(name);
  }
  const declared = new Set(current);
  const toNew = new Map<string, string | null>();
  const toOld = new Map<string, string | null>();
  for (const [name, at] of now)
    if (name !== at && declared.has(at)) {
      toNew.set(name, at);
      toOld.set(at, name);
    }
  for (const name of older) {
    const isSame = now.get(name) === name;
    // Its name belongs to another field by now, so neither side may take one for the other.
    if (!isSame && declared.has(name) && !toOld.has(name)) toOld.set(name, null);
    if (!isSame && declared.has(name) && !toNew.has(name)) toNew.set(name, null);
  }
  for (const at of toOld.keys()) if (!toNew.has(at) && !now.has(at)) toNew.set(at, null);
  return toNew.size + toOld.size === 0 ? undefined : { toNew, toOld };
}
