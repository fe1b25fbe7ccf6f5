import { limits } from "@holdfast/sdk/protocol";
import { readHead } from "../../commits/db/heads.ts";
import type { Database } from "../../connection/pool.ts";
import { schemaAt } from "../../schema/flows/live-schema.ts";
import type { SchemaCache } from "../../schema/flows/schema-cache.ts";
import { readLog as readStored } from "../db/log.ts";
import type { MadeBy } from "../rules/made-by.ts";
import { seenText } from "../rules/seen-entry.ts";
import { coveredModels, type View } from "../rules/view.ts";

export interface LogPage {
  readonly entries: readonly string[];
  /** The last position that was read, whether its entry is shown or not. */
  readonly examined: number;
  readonly stamp: number;
  readonly logId: string;
  readonly rowsVersion: number;
  /** The declared models in the view, by declared name. */
  readonly models: readonly string[];
  /** Entries up to this position are trimmed. If it is beyond `examined`, the reader needs a snapshot. */
  readonly trimmedTo: number;
}

const CHUNK = 1_000;

export interface LogQuestion {
  readonly after: number;
  readonly limit: number;
  readonly madeBy?: MadeBy;
}

export type ReadLog = (tenant: number, view: View, question: LogQuestion) => Promise<LogPage>;

/** The log after a position, filtered by the reader's view: up to `limit` entries out of up to 10 000 positions. */
export const readLog =
  (db: Database, schemas: SchemaCache): ReadLog =>
  async (tenant, view, { after, limit, madeBy }) => {
    const head = await readHead(db, tenant);
    // The head determines both the schema version and the end of the page. Entries beyond this head may belong to
    // a model that this schema does not declare yet, and would be skipped for good.
    const schema = await schemaAt(db, schemas, tenant, head.schemaVersion);
    const { rowsVersion } = schema;
    const models = coveredModels(view, schema);
    const page = { stamp: head.syncId, logId: head.logId, rowsVersion, models, trimmedTo: head.trimmedTo };
    const end = Math.min(head.syncId, after + limits.logExamined);
    const entries: string[] = [];
    let examined = Math.min(after, head.syncId);
    if (after < head.trimmedTo) return { ...page, entries, examined };
    let bytes = 0;
    while (examined < end && entries.length < limit && bytes < limits.pageBytes) {
      const to = Math.min(end, examined + Math.min(CHUNK, Math.max(limit, 100)));
      const found = await readStored(db, tenant, { after: examined, to, bytes: limits.pageBytes });
      // A log has no gaps: missing entries were trimmed during the read.
      const last = found.at(-1)?.syncId;
      if (last === undefined || last - examined > found.length)
        return { ...page, entries: [], examined, trimmedTo: to };
      for (const stored of found) {
        const text = seenText(view, stored, schema.models, madeBy);
        bytes += text === undefined ? 0 : Buffer.byteLength(text) + 1;
        if (entries.length === limit || (entries.length > 0 && bytes > limits.pageBytes))
          return { ...page, entries, examined };
        if (text !== undefined) entries.push(text);
        examined = stored.syncId;
      }
    }
    return { ...page, entries, examined };
  };
