import { limits } from "@holdfast/sdk/protocol";
import type pg from "pg";
import { readHead } from "../db/heads.ts";
import { readLog as readStored, type StoredEntry, storedEntryText } from "../db/log.ts";
import { sightOf, type View } from "../rules/view.ts";
import type { LiveSchema } from "./schema-cache.ts";

export interface LogPage {
  readonly entries: readonly string[];
  /** The last position that was looked at, shown or not. */
  readonly examined: number;
  readonly stamp: number;
  readonly logId: string;
  /** Positions up to here are no longer kept; a reader that wants them needs a snapshot. */
  readonly trimmedTo: number;
}

const CHUNK = 1_000;

/** The log after a position, as a reader sees it: up to `limit` entries out of up to 10 000 positions. */
export async function readLogPage(
  pool: pg.Pool,
  world: number,
  view: View,
  schema: LiveSchema,
  after: number,
  limit: number,
): Promise<LogPage> {
  const head = await readHead(pool, world);
  const page = { stamp: head.syncId, logId: head.logId, trimmedTo: head.trimmedTo };
  const end = Math.min(head.syncId, after + limits.logExamined);
  const entries: string[] = [];
  let examined = Math.min(after, head.syncId);
  if (after < head.trimmedTo) return { ...page, entries, examined };
  while (examined < end && entries.length < limit) {
    const to = Math.min(end, examined + Math.min(CHUNK, Math.max(limit, 100)));
    for (const stored of await readStored(pool, world, examined, to)) {
      if (entries.length === limit) break;
      const text = seenText(view, stored, schema);
      if (text !== undefined) entries.push(text);
      examined = stored.syncId;
    }
    if (entries.length < limit) examined = to;
  }
  return { ...page, entries, examined };
}

/** An entry as one reader sees it; undefined when it is not for them. */
export function seenText(view: View, entry: StoredEntry, schema: LiveSchema): string | undefined {
  const name = schema.models.get(entry.model)?.name ?? entry.model;
  switch (sightOf(view, entry)) {
    case "hidden":
      return undefined;
    case "whole":
      return storedEntryText(entry, name);
    case "left":
      return leftText(storedEntryText({ ...entry, verb: "deleted", data: null, changedFields: null }, name));
  }
}

/** A record that went out of the reader's groups: told as a deletion that says so. */
export const leftText = (deletedEntry: string): string => `${deletedEntry.slice(0, -1)},"left":true}`;
