import { READABLE_BYTES } from "../../packages/server/src/kernel/commits/rules/unreadable-record.ts";
import type { Entry, NotedChange } from "./evidence.ts";

/** What a change left of a row, as the notes and the log both tell it. Null: it is gone. */
export type RowState = string | null;

/** Of a row that cannot be read, the log knows nothing else. */
const UNREADABLE = "an unreadable row";

export const isUnreadable = ({ bytes = 0 }: { readonly bytes?: number }): boolean => bytes > READABLE_BYTES;

export function notedState(change: NotedChange): RowState {
  const { mark, body, doc } = change;
  if (mark === null) return null;
  return isUnreadable(change) ? UNREADABLE : stateOf(mark, body, doc);
}

export function entryState(entry: Entry): RowState {
  const { verb, data, unreadable } = entry;
  if (verb === "deleted") return null;
  if (typeof unreadable === "string") return UNREADABLE;
  const { body, doc } = (data ?? {}) as { readonly body?: string | null; readonly doc?: string | null };
  return stateOf(String(markOf(entry)), body, doc);
}

/** The value that names an entry's writer; null: its record was deleted, or cannot be read. */
export const markOf = ({ verb, data }: Pick<Entry, "verb" | "data">): string | null =>
  verb === "deleted" || data === null ? null : String((data as { mark?: unknown }).mark);

const stateOf = (mark: string, body: string | null | undefined, doc: string | null | undefined): string =>
  body || doc ? `${mark} with ${body ?? "no body"} and ${doc ?? "no doc"}` : mark;
