import { isRecordId, limits } from "@holdfast/sdk/protocol";
import { readHead } from "../../commits/db/heads.ts";
import { type RecordName, readRecord } from "../../commits/db/records.ts";
import type { Database } from "../../connection/pool.ts";
import type { PageCursors } from "../../lists/flows/page-cursor.ts";
import type { OpenPlaces } from "../../lists/flows/read-places.ts";
import { type RecordPlaces, relationOf } from "../../lists/flows/record-places.ts";
import { isRefusal, type Refusal, refuse } from "../../refusal.ts";
import { liveSchema } from "../../schema/flows/live-schema.ts";
import type { SchemaCache } from "../../schema/flows/schema-cache.ts";
import type { DeclaredModel } from "../../schema/rules/declared-model.ts";
import type { Principal, Scope } from "../../tokens/rules/participant.ts";
import { checkModel, isWithin } from "../../tokens/rules/scope.ts";
import { readRecordHistory } from "../db/log.ts";
import { seenText } from "../rules/seen-entry.ts";

export interface HistoryRequest {
  readonly reader: Principal;
  readonly model: string;
  readonly id: string;
  readonly order: "asc" | "desc";
  readonly limit: number;
  readonly cursor: string | undefined;
}

export interface HistoryPage {
  /** Entries as JSON text, as in the feed. */
  readonly entries: readonly string[];
  readonly nextCursor: string | null;
  readonly stamp: number;
  readonly logId: string;
  /** Entries up to this position are trimmed, so the history may be incomplete. */
  readonly trimmedTo: number;
}

export type ReadHistory = (request: HistoryRequest) => Promise<HistoryPage | Refusal>;

interface HistoryCursor {
  readonly syncId: number;
}

/** The history of one record, as far as the log is kept. A deleted record still has its history. */
export const readHistory =
  (db: Database, places: OpenPlaces, schemas: SchemaCache, cursors: PageCursors): ReadHistory =>
  async ({ reader, model, id, order, limit, cursor }) => {
    const { tenant, scope } = reader;
    const { models } = await liveSchema(db, schemas, tenant);
    const key = model.toLowerCase();
    const declared = models.get(key);
    const hidden = checkModel(reader, declared?.name ?? model);
    if (hidden) return hidden;
    if (!declared) return refuse("unknown_model", { param: "model" });
    if (!isRecordId(id)) return refuse("invalid_id", { param: "id" });
    const groups = scope?.groups && [...scope.groups].sort();
    const { syncId: stamp, logId, trimmedTo } = await readHead(db, tenant);
    const context = JSON.stringify(["history", logId, key, id, order, groups ?? null]);
    const after = cursor === undefined ? undefined : (cursors.decode(context, cursor) as HistoryCursor | undefined);
    if (cursor !== undefined && !after) return refuse("invalid_cursor", { param: "starting_after" });
    const name = { tenant, model: key, id };
    const descending = order === "desc";
    const asked = { ...name, groups, after: after?.syncId, descending, limit, bytes: limits.pageBytes };
    const { entries, hasMore } = await readRecordHistory(db, asked);
    if (entries.length === 0 && !after) {
      const isThere = (from: Database) => isSeen(from, places, name, declared, scope);
      const seen = await (places.has(declared.model) ? places.read(reader, declared.name, isThere) : isThere(db));
      if (isRefusal(seen)) return seen;
      if (!seen) return refuse("record_not_found", { param: "id" });
    }
    const last = entries.at(-1);
    return {
      entries: entries.flatMap((entry) => seenText({ models: undefined, groups: scope?.groups }, entry, models) ?? []),
      nextCursor: hasMore && last ? cursors.encode(context, { syncId: last.syncId } satisfies HistoryCursor) : null,
      stamp,
      logId,
      trimmedTo,
    };
  };

/** Whether the reader may see an existing record that has no entries: they are trimmed, or its table was attached. */
async function isSeen(
  db: Database,
  places: RecordPlaces,
  name: RecordName,
  declared: DeclaredModel,
  scope: Scope | undefined,
): Promise<boolean> {
  const record = await readRecord(db, name, await relationOf(places, db, name.tenant, declared));
  return record !== undefined && (scope === undefined || isWithin(scope, record.groups));
}
