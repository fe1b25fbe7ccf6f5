import type { CommittedBatch } from "../../flows/commits/round-result.ts";
import type { LiveSchema } from "../../flows/schema/schema-cache.ts";
import { enteredText, type StoredEntry, storedEntryText } from "../../rules/commits/stored-entry.ts";
import { filedEntry, leftEntryText } from "../../rules/log/seen-entry.ts";
import { type FiledEntry, sightOf, type View } from "../../rules/log/view.ts";
import { presentEntry } from "../../rules/schema/schema-change.ts";

/** A log entry for listeners: its text, and the fields that decide who may see it. */
export interface NewsEntry extends FiledEntry {
  readonly syncId: number;
  readonly text: string;
  /** The text for a reader who may not have seen the record before. */
  enteredText(): string;
  /** The text for a reader whose groups the record has left. */
  leftText(): string;
}

/** The entries of one tenant in (from, to]. */
export interface News {
  readonly from: number;
  readonly to: number;
  readonly entries: readonly NewsEntry[];
  /** The models of the schema that the entries are shown by, by name in lower case. */
  readonly models: LiveSchema["models"];
}

/** News from a round of this process, without a database read. */
export const newsOfBatch = ({ from, to, entries, schema }: CommittedBatch): News =>
  newsOfEntries(
    from,
    to,
    entries.map(({ entry }) => entry),
    schema,
  );

export const newsOfEntries = (from: number, to: number, entries: readonly StoredEntry[], schema: LiveSchema): News => ({
  from,
  to,
  models: schema.models,
  entries: entries.flatMap((entry) => {
    const declared = schema.models.get(entry.model);
    const shown = presentEntry(entry, declared);
    if (!declared || !shown) return [];
    const { name } = declared;
    const text = storedEntryText(shown, name);
    return {
      ...filedEntry(shown),
      syncId: entry.syncId,
      text,
      enteredText: () => enteredText(text, entry),
      leftText: () => leftEntryText(entry, name),
    };
  }),
});

/** The `entries` frame for one reader's view. `after` may lie within the news. */
export function entriesFrame(view: View, { from, to, entries, models }: News, after = from): string {
  const texts: string[] = [];
  for (const entry of entries) {
    if (entry.syncId <= after) continue;
    switch (sightOf(view, entry, models)) {
      case "whole":
        texts.push(entry.text);
        break;
      case "entered":
        texts.push(entry.enteredText());
        break;
      case "left":
        texts.push(entry.leftText());
    }
  }
  return `{"frame":"entries","from":${after},"to":${to},"entries":[${texts.join(",")}]}`;
}
