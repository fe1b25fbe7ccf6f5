import type { Json, JsonObject, Model } from "@holdfast/sdk/protocol";
import { fits } from "@holdfast/sdk/protocol";
import type { StoredEntry } from "../commits/stored-entry.ts";
import type { DeclaredModel, SchemaChange } from "./declared-model.ts";
import { groupsOf } from "./sync-group.ts";

export interface StoredRow {
  readonly data: JsonObject;
  /** What the schema does not declare, or not as this value; null: nothing. */
  readonly hidden: JsonObject | null;
}

/** A row in the words of a schema: renamed, what it does not declare put away, what it declares again brought back. */
export function rewriteRow({ data, hidden }: StoredRow, renames: SchemaChange["renames"], model: Model): StoredRow {
  const shown: [string, Json][] = [];
  const kept: [string, Json][] = [];
  const all = new Map(
    [...Object.entries({ ...hidden }), ...Object.entries(data)].map(([name, value]) => [named(renames, name), value]),
  );
  // In the order of the row, and what comes back behind it.
  const order = [...new Set([...Object.keys(data), ...Object.keys({ ...hidden })].map((name) => named(renames, name)))];
  for (const name of order) {
    const value = all.get(name) as Json;
    (isShown(model, name, value) ? shown : kept).push([name, value]);
  }
  return { data: Object.fromEntries(shown), hidden: kept.length === 0 ? null : Object.fromEntries(kept) };
}

/** What a push does to the records of one model. */
export interface ModelChange {
  readonly model: Model;
  /** New name by old name; undefined: the values stay as they are. */
  readonly renames: SchemaChange["renames"] | undefined;
  /** Whether they are filed by other group rules. */
  readonly isRefiled: boolean;
}

export interface FiledRow extends StoredRow {
  readonly id: string;
  readonly groups: readonly string[];
}

export interface RowChange {
  /** Null: as it was. */
  readonly row: StoredRow | null;
  readonly groups: readonly string[];
}

/** What a push makes of a record; undefined when it stays as it is. */
export function changeRow(
  { id, groups, ...before }: FiledRow,
  { model, renames, isRefiled }: ModelChange,
): RowChange | undefined {
  const after = renames ? rewriteRow(before, renames, model) : before;
  const filed = isRefiled ? groupsOf(model, { ...after.data, id }) : groups;
  const isSame = JSON.stringify([after.data, after.hidden]) === JSON.stringify([before.data, before.hidden]);
  if (isSame && JSON.stringify(filed) === JSON.stringify(groups)) return undefined;
  return { row: isSame ? null : after, groups: filed };
}

/** An entry in the words of the schema as it is now; undefined when its model is no longer declared. */
export function presentEntry(entry: StoredEntry, declared: DeclaredModel | undefined): StoredEntry | undefined {
  if (!declared) return undefined;
  const renames = renamesSince(declared.changes, entry.syncId);
  if (!renames) return entry;
  const { data, changedFields } = entry;
  return {
    ...entry,
    data: data && JSON.stringify(presentData(JSON.parse(data) as JsonObject, renames, declared.model)),
    changedFields:
      changedFields && JSON.stringify(presentFields(JSON.parse(changedFields) as string[], entry.syncId, declared)),
  };
}

/** The names that an entry's changed fields have now, without those that are hidden. */
export function presentFields(
  names: readonly string[],
  syncId: number,
  { changes, model }: DeclaredModel,
): readonly string[] {
  const renames = renamesSince(changes, syncId);
  return renames ? presentNames(names, renames).filter((name) => isDeclared(model, name)) : names;
}

/** The renames that came after an entry, oldest first; undefined when its words are the present ones. */
function renamesSince(changes: readonly SchemaChange[], syncId: number): SchemaChange["renames"][] | undefined {
  if (!changes.some(({ upTo }) => syncId <= upTo)) return undefined;
  return changes.filter(({ upTo }) => syncId <= upTo).map(({ renames }) => renames);
}

const presentNames = (names: readonly string[], renames: readonly SchemaChange["renames"][]): string[] =>
  names.map((name) => renames.reduce((now, step) => named(step, now), name));

const presentData = (data: JsonObject, renames: readonly SchemaChange["renames"][], model: Model): JsonObject => {
  const names = presentNames(Object.keys(data), renames);
  const entries = Object.values(data).map((value, i): [string, Json] => [names[i] as string, value]);
  return Object.fromEntries(entries.filter(([name, value]) => isShown(model, name, value)));
};

const named = (renames: SchemaChange["renames"], name: string): string =>
  Object.hasOwn(renames, name) ? (renames[name] as string) : name;

const isDeclared = (model: Model, name: string): boolean => name === "id" || Object.hasOwn(model.fields, name);

function isShown(model: Model, name: string, value: Json): boolean {
  if (name === "id") return true;
  const field = Object.hasOwn(model.fields, name) ? model.fields[name] : undefined;
  return field !== undefined && fits(field, value);
}
