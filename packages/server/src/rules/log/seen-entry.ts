import { leftText, type StoredEntry, storedEntryText } from "../commits/stored-entry.ts";
import type { DeclaredModel } from "../schema/declared-model.ts";
import { presentEntry } from "../schema/schema-change.ts";
import { sightOf, type View } from "./view.ts";

/** An entry as one reader sees it. Undefined if the reader may not see it. */
export function seenText(
  view: View,
  entry: StoredEntry,
  models: ReadonlyMap<string, DeclaredModel>,
): string | undefined {
  const declared = models.get(entry.model);
  const shown = presentEntry(entry, declared);
  if (!declared || !shown) return undefined;
  const { name } = declared;
  switch (sightOf(view, entry)) {
    case "hidden":
      return undefined;
    case "whole":
      return storedEntryText(shown, name);
    case "left":
      return leftText(storedEntryText({ ...entry, verb: "deleted", data: null, changedFields: null }, name));
  }
}
