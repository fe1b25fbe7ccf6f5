import { leftText, type StoredEntry, storedEntryText } from "./entry-text.ts";
import { sightOf, type View } from "./view.ts";
import type { DeclaredModel } from "./world-state.ts";

/** An entry as one reader sees it; undefined when it is not for them. */
export function seenText(
  view: View,
  entry: StoredEntry,
  models: ReadonlyMap<string, DeclaredModel>,
): string | undefined {
  const name = models.get(entry.model)?.name ?? entry.model;
  switch (sightOf(view, entry)) {
    case "hidden":
      return undefined;
    case "whole":
      return storedEntryText(entry, name);
    case "left":
      return leftText(storedEntryText({ ...entry, verb: "deleted", data: null, changedFields: null }, name));
  }
}
