import type { JsonObject } from "@holdfast/sdk/protocol";
import {
  enteredText,
  leftText,
  type StoredEntry,
  storedEntryText,
  valuesText,
} from "../../commits/rules/stored-entry.ts";
import type { DeclaredModel } from "../../schema/rules/declared-model.ts";
import { presentEntry } from "../../schema/rules/schema-change.ts";
import { isMadeBy, type MadeBy } from "./made-by.ts";
import { type FiledEntry, sightOf, type View } from "./view.ts";

/** An entry under the current names, for `sightOf`. Its JSON is parsed at the first use. */
export function filedEntry(entry: StoredEntry, dataBefore?: JsonObject | null): FiledEntry {
  const { id, verb, model, groups, groupsBefore, changedFields } = entry;
  const values = valuesText(entry);
  let parsed: JsonObject | null | undefined;
  let changed: readonly string[] | null | undefined;
  return {
    ...{ id, verb, model, groups, groupsBefore, dataBefore },
    data: () => (parsed ??= values === null ? null : (JSON.parse(values) as JsonObject)),
    changedFields: () => (changed ??= changedFields === null ? null : (JSON.parse(changedFields) as string[])),
  };
}

/** An entry as one reader sees it. Undefined if the reader may not see it, or does not ask for it. */
export function seenText(
  view: View,
  entry: StoredEntry,
  models: ReadonlyMap<string, DeclaredModel>,
  asked: MadeBy = {},
): string | undefined {
  const declared = models.get(entry.model);
  const shown = presentEntry(entry, declared);
  if (!declared || !shown) return undefined;
  const { name } = declared;
  const sight = sightOf(view, filedEntry(shown), models);
  if (!isMadeBy(asked, sight === "left" ? withoutReason(entry) : entry)) return undefined;
  switch (sight) {
    case "hidden":
      return undefined;
    case "whole":
      return storedEntryText(shown, name);
    case "entered":
      return enteredText(storedEntryText(shown, name), entry);
    case "left":
      return leftEntryText(entry, name);
  }
}

/** The entry for a reader who lost sight of the record. */
export function leftEntryText(entry: StoredEntry, name: string): string {
  const left = { verb: "deleted", data: null, changedFields: null, archivedAt: null } as const;
  return leftText(storedEntryText({ ...withoutReason(entry), ...left }, name));
}

/** Why a record left may name what a reader may not see who lost sight of it. */
const withoutReason = (entry: StoredEntry): StoredEntry => ({ ...entry, attribution: null });
