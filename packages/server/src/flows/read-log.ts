import { limits } from "@holdfast/sdk/protocol";
import { readHead } from "../db/heads.ts";
import { readLog as readStored } from "../db/log.ts";
import type { Database } from "../db/pool.ts";
import { seenText } from "../rules/seen-entry.ts";
import type { View } from "../rules/view.ts";
import { schemaAt } from "./live-schema.ts";
import type { SchemaCache } from "./schema-cache.ts";

export interface LogPage {
  readonly entries: readonly string[];
  /** The last position that was looked at, shown or not. */
  readonly examined: number;
  readonly stamp: number;
  readonly logId: string;
  readonly rowsVersion: number;
  /** Positions up to here are no longer kept. Beyond `examined`: the reader needs a snapshot. */
  readonly trimmedTo: number;
}

const CHUNK = 1_000;

export type ReadLog = (world: number, view: View, after: number, limit: number) => Promise<LogPage>;

/** The log after a position, as a reader sees it: up to `limit` entries out of up to 10 000 positions. */
export const readLog =
  (db: Database, schemas: SchemaCache): ReadLog =>
  async (world, view, after, limit) => {
    const head = await readHead(db, world);
    // In this order: of an entry whose model was declared after its schema was read nobody would ever hear.
    const schema = await schemaAt(db, schemas, world, head.schemaVersion);
    const { rowsVersion } = schema;
    const page = { stamp: head.syncId, logId: head.logId, rowsVersion, trimmedTo: head.trimmedTo };
    const end = Math.min(head.syncId, after + limits.logExamined);
    const entries: string[] = [];
    let examined = Math.min(after, head.syncId);
    if (after < head.trimmedTo) return { ...page, entries, examined };
    while (examined < end && entries.length < limit) {
      const to = Math.min(end, examined + Math.min(CHUNK, Math.max(limit, 100)));
      const found = await readStored(db, world, examined, to);
      // A log has no holes: what is missing was trimmed away while we read.
      if (found.length < to - examined) return { ...page, entries: [], examined, trimmedTo: to };
      for (const stored of found) {
        if (entries.length === limit) break;
        const text = seenText(view, stored, schema.models);
        if (text !== undefined) entries.push(text);
        examined = stored.syncId;
      }
      if (entries.length < limit) examined = to;
    }
    return { ...page, entries, examined };
  };
