import { limits } from "@holdfast/sdk/protocol";
import { readHead } from "../../commits/db/heads.ts";
import { tooLargeToRead } from "../../commits/rules/unreadable-record.ts";
import type { Database } from "../../connection/pool.ts";
import { momentOf, type Transaction } from "../../connection/transaction.ts";
import { createLimiter, type Limiter } from "../../limits/limiter.ts";
import type { PageCursors } from "../../lists/flows/page-cursor.ts";
import type { OpenPlaces } from "../../lists/flows/read-places.ts";
import { hasSome, type RecordPlaces } from "../../lists/flows/record-places.ts";
import { type Refusal, refuse } from "../../refusal.ts";
import { liveSchema, schemaAt } from "../../schema/flows/live-schema.ts";
import type { SchemaCache } from "../../schema/flows/schema-cache.ts";
import { ownerName, type Principal } from "../../tokens/rules/participant.ts";
import { readSnapshotPage } from "../db/snapshot.ts";
import { bothOf, filedRecords } from "../rules/filed-records.ts";
import { type Followed, followedRecords } from "../rules/followed-records.ts";
import { coveredModels, type View } from "../rules/view.ts";
import { viewHashOf } from "./view-hash.ts";

export interface SnapshotRequest {
  readonly reader: Principal;
  /** The requested view, limited to the token's scope. */
  readonly view: View;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** A page as JSON lines: a header line, the records, and an end line. Without the end line the page is incomplete. */
export type ReadSnapshot = (request: SnapshotRequest) => Promise<string | Refusal>;

interface SnapshotCursor {
  readonly model: string;
  readonly id: string;
  readonly stamp: number;
  readonly logId: string;
  readonly rowsVersion: number;
}

/** With conditions a page may scan a whole model: a few at a time, so that other reads find a free connection. A tenant leaves one to others. */
const SLOW_SNAPSHOTS = { most: 4, mostPerKey: 3 };
/** Most that an answer names of the records that are too large. */
const MOST_UNREADABLE = 100;
const PATIENCE = { waitMs: 1_000, longestMs: 5_000 };

/**
 * The stamp is the head before the first page, and the cursor carries it along. A reader that continues with the log
 * from the stamp misses nothing.
 */
export const readSnapshot = (
  hosted: Database,
  places: OpenPlaces,
  schemas: SchemaCache,
  cursors: PageCursors,
  pages: Limiter,
  recordBytes: number,
): ReadSnapshot => {
  const limiter = createLimiter(SLOW_SNAPSHOTS);
  return async (request) => {
    const { tenant, tokenId } = request.reader;
    const mayTakeLong = request.view.where !== undefined;
    if (mayTakeLong && !(await limiter.enter(tenant, tokenId, PATIENCE))) return refuse("overloaded");
    try {
      const { cursor } = request;
      const schema = await liveSchema(hosted, schemas, tenant);
      // Read the head, the models and the records as of one moment. Records of a model that is declared later arrive
      // through the log.
      const read = (db: Database) => momentOf(db, (tx) => readPage(tx, places, schemas, cursors, recordBytes, request));
      if (!hasSome(places, schema)) return await pages.take(tenant, tokenId, () => read(hosted));
      return await places.read(request.reader, covered(request.view), async (there) => {
        if (cursor === undefined) await places.awaitLog(hosted, tenant);
        return read(there);
      });
    } finally {
      if (mayTakeLong) limiter.leave(tenant);
    }
  };
};

/** A name for the models that a view covers, which no model has. */
const covered = ({ models }: View): string => `:${[...(models ?? [])].sort().join()}`;

async function readPage(
  db: Transaction,
  places: RecordPlaces,
  schemas: SchemaCache,
  cursors: PageCursors,
  recordBytes: number,
  { reader, view, limit, cursor }: SnapshotRequest,
): Promise<string | Refusal> {
  const { tenant } = reader;
  const keys = view.models && [...view.models].sort();
  const head = await readHead(db, tenant);
  const schema = await schemaAt(db, schemas, tenant, head.schemaVersion);
  const models = coveredModels(view, schema);
  const broken = keys?.find((key) => schema.unreadable.includes(key));
  if (models.length === 0 && broken)
    return refuse("source_changed", { param: "model", message: unreadableModel(broken) });
  if (models.length === 0 && keys && keys.length > 0) return refuse("unknown_model", { param: "model", status: 400 });
  const within = view.groups && [...view.groups].sort();
  const followed = bothOf(
    view.where ? followedRecords(view.where, schema.models) : new Map(),
    within ? filedRecords(within, schema.models) : new Map(),
  );
  const context = JSON.stringify(["snapshot", tenant, keys ?? null, within ?? null, view.where ?? null]);
  const from = cursor === undefined ? undefined : (cursors.decode(context, cursor) as SnapshotCursor | undefined);
  if (cursor !== undefined && !from) return refuse("invalid_cursor", { param: "starting_after" });
  // If the log was replaced, or a push rewrote rows, between two pages, the snapshot would mix two states.
  if (from && (from.logId !== head.logId || from.rowsVersion !== schema.rowsVersion))
    return refuse("resync_required", { param: "starting_after" });
  const stamp = from?.stamp ?? head.syncId;
  const names = new Map([...schema.models].map(([key, { name }]) => [key, name]));
  const shown =
    keys === undefined && schema.hiddenModels.length + schema.unreadable.length === 0
      ? undefined
      : models.map((name) => name.toLowerCase());
  const page = await readSnapshotPage(
    db,
    {
      ...{
        tenant,
        rewriting: head.rewriting,
        relations: hasSome(places, schema) ? await places.of(db, tenant) : new Map(),
        groups: within,
        after: from,
        limit,
        bytes: limits.pageBytes,
      },
      ...selected(shown ?? (followed.size > 0 ? [...schema.models.keys()] : undefined), followed),
    },
    names,
  );
  const { logId } = head;
  const { rowsVersion } = schema;
  const next = page.hasMore
    ? cursors.encode(context, { ...page.last, stamp, logId, rowsVersion } as SnapshotCursor)
    : null;
  const [owner, viewHash] = [ownerName(reader), viewHashOf(reader)];
  const facts = { owner, viewHash, models, recordBytes, serverTime: new Date().toISOString() };
  const start = JSON.stringify({ object: "snapshot", stamp, logId, rowsVersion, ...facts });
  const unreadable = page.unreadable
    .slice(0, MOST_UNREADABLE)
    .map(({ bytes, ...record }) => ({ ...record, message: tooLargeToRead(bytes || undefined) }));
  const end = JSON.stringify({
    ...{ object: "snapshot_end", count: page.count, next_cursor: next },
    ...(unreadable.length > 0 && { unreadable }),
  });
  return `${start}\n${page.lines}${end}\n`;
}

const unreadableModel = (model: string): string =>
  `The table of "${model}" cannot be read: "holdfast tables verify" says more.`;

/** `models` without those of which only some records are followed, and these. */
function selected(models: readonly string[] | undefined, followed: ReadonlyMap<string, Followed>) {
  const parts = [...followed].filter(([model]) => models?.includes(model));
  return {
    models: followed.size === 0 ? models : models?.filter((model) => !followed.has(model)),
    parts: parts.map(([model, alternatives]) => ({ model, alternatives })),
  };
}
