import type { Verb } from "@holdfast/sdk/protocol";
import type { Batch } from "../../flows/commits/commit-round.ts";
import type { LiveSchema } from "../../flows/schema/schema-cache.ts";
import { leftText, type StoredEntry, storedEntryText } from "../../rules/commits/stored-entry.ts";
import { type Filed, sightOf, type View } from "../../rules/log/view.ts";
import { presentEntry } from "../../rules/schema/schema-change.ts";

/** One entry on its way to those who listen: its text, and what decides who may hear it. */
export interface NewsEntry extends Filed {
  readonly syncId: number;
  readonly verb: Verb;
  readonly text: string;
  /** How it is told to a reader whose groups it left. */
  leftText(): string;
}

/** What happened in one tenant in (from, to]. */
export interface News {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly NewsEntry[];
}

/** News straight from a round of this process, without asking the database. */
export const newsOfBatch = ({ from, to, entries, schema }: Batch): News =>
  newsOfEntries(
    from,
    to,
    entries.map(({ entry }) => entry),
    schema,
  );

export const newsOfEntries = (from: number, to: number, entries: readonly StoredEntry[], schema: LiveSchema): News => ({
  from,
  to,
  lines: entries.flatMap((entry) => {
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

/** The `entries` frame for one reader's view, from a position that may lie within the news. */
export function entriesFrame(view: View, { from, to, lines }: News, after = from): string {
  const texts: string[] = [];
  for (const line of lines) {
    if (line.syncId <= after) continue;
    const sight = sightOf(view, line);
    if (sight !== "hidden") texts.push(sight === "whole" ? line.text : line.leftText());
  }
  return `{"frame":"entries","from":${after},"to":${to},"entries":[${texts.join(",")}]}`;
}
