import type { Verb } from "@holdfast/sdk/protocol";
import type { CommittedBatch } from "../../flows/commits/commit-round.ts";
import type { LiveSchema } from "../../flows/schema/schema-cache.ts";
import { leftText, type StoredEntry, storedEntryText } from "../../rules/commits/stored-entry.ts";
import { type Filed, sightOf, type View } from "../../rules/log/view.ts";
import { presentEntry } from "../../rules/schema/schema-change.ts";

/** A log entry for listeners: its text, and the fields that decide who may see it. */
export interface NewsEntry extends Filed {
  readonly syncId: number;
  readonly verb: Verb;
  readonly text: string;
  /** The text for a reader whose groups the record has left. */
  leftText(): string;
}

/** The entries of one tenant in (from, to]. */
export interface News {
  readonly from: number;
  readonly to: number;
  readonly entries: readonly NewsEntry[];
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
  entries: entries.flatMap((entry) => {
    const declared = schema.models.get(entry.model);
    const shown = presentEntry(entry, declared);
    if (!declared || !shown) return [];
    const { name } = declared;
    return {
      syncId: entry.syncId,
      verb: entry.verb,
      model: entry.model,
      groups: entry.groups,
      groupsBefore: entry.groupsBefore,
      text: storedEntryText(shown, name),
      leftText: () => leftText(storedEntryText({ ...entry, verb: "deleted", data: null, changedFields: null }, name)),
    };
  }),
});

/** The `entries` frame for one reader's view. `after` may lie within the news. */
export function entriesFrame(view: View, { from, to, entries }: News, after = from): string {
  const texts: string[] = [];
  for (const entry of entries) {
    if (entry.syncId <= after) continue;
    const sight = sightOf(view, entry);
    if (sight !== "hidden") texts.push(sight === "whole" ? entry.text : entry.leftText());
  }
  return `{"frame":"entries","from":${after},"to":${to},"entries":[${texts.join(",")}]}`;
}
