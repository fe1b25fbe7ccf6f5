import type { JsonObject, LogEntry } from "@holdfast/sdk/protocol";
import type { CommittedBatch } from "../commits/flows/round-result.ts";
import { enteredText, type StoredEntry, storedEntryText } from "../commits/rules/stored-entry.ts";
import { filedEntry, leftEntryText } from "../log/rules/seen-entry.ts";
import { type FiledEntry, sightOf, type View, viewName } from "../log/rules/view.ts";
import type { SpokenSchema } from "../schema/flows/client-schemas.ts";
import type { LiveSchema } from "../schema/flows/schema-cache.ts";
import type { ClientNames } from "../schema/rules/client-names.ts";
import { presentEntry } from "../schema/rules/schema-change.ts";
import { entryOut } from "../schema/rules/translate.ts";

/** A log entry for listeners: its text, and the fields that decide who may see it. */
export interface NewsEntry extends FiledEntry {
  readonly syncId: number;
  readonly clientId: string | null;
  text(): string;
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
  readonly schemaVersion: number;
  readonly rowsVersion: number;
}

/** News from a round of this process, without a database read. */
export const newsOfBatch = ({ from, to, entries, schema }: CommittedBatch): News =>
  newsOf(
    { from, to, schema },
    // What was in a row of the caller's own before, only the row knew.
    entries.map(({ entry, dataBefore, keepsValues }) => ({ entry, dataBefore: keepsValues ? dataBefore : undefined })),
  );

export const newsOfEntries = (from: number, to: number, entries: readonly StoredEntry[], schema: LiveSchema): News =>
  newsOf(
    { from, to, schema },
    entries.map((entry) => ({ entry, dataBefore: undefined })),
  );

interface Committed {
  readonly entry: StoredEntry;
  readonly dataBefore: JsonObject | null | undefined;
}

const newsOf = (
  { from, to, schema }: { readonly from: number; readonly to: number; readonly schema: LiveSchema },
  entries: readonly Committed[],
): News => ({
  from,
  to,
  models: schema.models,
  schemaVersion: schema.version,
  rowsVersion: schema.rowsVersion,
  entries: entries.flatMap(({ entry, dataBefore }) => {
    const declared = schema.models.get(entry.model);
    const shown = presentEntry(entry, declared);
    if (!declared || !shown) return [];
    const { name } = declared;
    let made: string | undefined;
    const text = () => (made ??= storedEntryText(shown, name));
    return {
      ...filedEntry(shown, dataBefore),
      syncId: entry.syncId,
      clientId: entry.clientId,
      text,
      enteredText: () => enteredText(text(), entry),
      leftText: () => leftEntryText(entry, name),
    };
  }),
});

/** Whether news are under the schema that a reader's names and rows are of. */
export const isUnder = (
  { schemaVersion, rowsVersion }: Pick<News, "schemaVersion" | "rowsVersion">,
  reader: SpokenSchema,
): boolean => rowsVersion === reader.rowsVersion && (reader.names === undefined || schemaVersion === reader.version);

/** A key that is equal for readers that get the same bytes. */
export const readerName = (view: View, names: ClientNames | undefined): string =>
  names ? `${names.key} ${viewName(view)}` : viewName(view);

/** Whether a reader sees some of the news after a position, or has made a change among them. */
export const concerns = (view: View, { entries, models }: News, after: number, clientId: string | null): boolean =>
  entries.some(
    (entry) =>
      entry.syncId > after &&
      ((clientId !== null && entry.clientId === clientId) || sightOf(view, entry, models) !== "hidden"),
  );

/** The `entries` frame for one reader's view, with the names that it knows. `after` may lie within the news. */
export function entriesFrame(
  view: View,
  { from, to, entries, models }: News,
  names: ClientNames | undefined,
  after = from,
): string {
  const texts: string[] = [];
  for (const entry of entries) {
    if (entry.syncId <= after) continue;
    switch (sightOf(view, entry, models)) {
      case "whole":
        texts.push(entry.text());
        break;
      case "entered":
        texts.push(entry.enteredText());
        break;
      case "left":
        texts.push(entry.leftText());
    }
  }
  const shown = names ? texts.map((text) => entryTextOut(names, text)) : texts;
  return `{"frame":"entries","from":${after},"to":${to},"entries":[${shown.join(",")}]}`;
}

const entryTextOut = (names: ClientNames, text: string): string => {
  const entry = JSON.parse(text) as LogEntry;
  const shown = entryOut(names, entry);
  return shown === entry ? text : JSON.stringify(shown);
};
