import type { Json, JsonObject, Model } from "@holdfast/sdk/protocol";
import { fits, ownValue } from "@holdfast/sdk/protocol";
import { type StoredEntry, valuesText } from "../../commits/rules/stored-entry.ts";
import type { DeclaredModel, SchemaChange } from "./declared-model.ts";
import { groupsOf } from "./sync-group.ts";

export interface StoredRow {
  readonly data: JsonObject;
  /** Values that the schema does not declare, or not with this type. Null: none. */
  readonly hidden: JsonObject | null;
}

/**
 * Converts a row to a schema: applies renames, hides values that are not declared, and restores values that are
 * declared again.
 */
export function rewriteRow({ data, hidden }: StoredRow, renames: SchemaChange["renames"], model: Model): StoredRow {
  const shown: [string, Json][] = [];
  const kept: [string, Json][] = [];
  const all = new Map(
    [...Object.entries({ ...hidden }), ...Object.entries(data)].map(([name, value]) => [named(renames, name), value]),
  );
  // Keep the order of the row; restored values come last.
  const order = [...new Set([...Object.keys(data), ...Object.keys({ ...hidden })].map((name) => named(renames, name)))];
  for (const name of order) {
    const value = all.get(name) as Json;
    (isShown(model, name, value) ? shown : kept).push([name, value]);
  }
  return { data: Object.fromEntries(shown), hidden: kept.length === 0 ? null : Object.fromEntries(kept) };
}

/** What a push changes in the records of one model. */
export interface ModelChange {
  readonly model: Model;
  /** New name by old name. Undefined: the values stay unchanged. */
  readonly renames: SchemaChange["renames"] | undefined;
  /** Whether the group rules have changed. */
  readonly isRegrouped: boolean;
}

export interface FiledRow extends StoredRow {
  readonly id: string;
  readonly groups: readonly string[];
}

export interface RowChange {
  /** Null: unchanged. */
  readonly row: StoredRow | null;
  readonly groups: readonly string[];
}

/** The changed form of a record. Undefined if it stays unchanged. */
export function changeRow(
  { id, groups, ...before }: FiledRow,
  { model, renames, isRegrouped }: ModelChange,
): RowChange | undefined {
  const after = renames ? rewriteRow(before, renames, model) : before;
  const filed = isRegrouped ? groupsOf(model, { ...after.data, id }) : groups;
  const isSame = JSON.stringify([after.data, after.hidden]) === JSON.stringify([before.data, before.hidden]);
  if (isSame && JSON.stringify(filed) === JSON.stringify(groups)) return undefined;
  return { row: isSame ? null : after, groups: filed };
}

/** An entry with the current schema's names. Undefined if its model is no longer declared. */
export function presentEntry(entry: StoredEntry, declared: DeclaredModel | undefined): StoredEntry | undefined {
  if (!declared) return undefined;
  const renames = renamesSince(declared.changes, entry.syncId);
  if (!renames) return entry;
  const { changedFields } = entry;
  const data = valuesText(entry);
  return {
    ...entry,
    data:
      data === null ? entry.data : JSON.stringify(presentData(JSON.parse(data) as JsonObject, renames, declared.model)),
    changedFields:
      changedFields && JSON.stringify(presentFields(JSON.parse(changedFields) as string[], entry.syncId, declared)),
  };
}

/** The current names of an entry's changed fields, without hidden ones. */
export function presentFields(
  names: readonly string[],
  syncId: number,
  { changes, model }: DeclaredModel,
): readonly string[] {
  const renames = renamesSince(changes, syncId);
  return renames ? presentNames(names, renames).filter((name) => isDeclared(model, name)) : names;
}

/** The renames after an entry, oldest first. Undefined if there is no schema change after it. */
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
  const field = ownValue(model.fields, name);
  return field !== undefined && fits(field, value);
}
