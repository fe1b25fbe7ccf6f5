import { logRoutes } from "../edge/http/routes/log.ts";
import { recordRoutes } from "../edge/http/routes/records.ts";
import { createLimiter } from "../kernel/limits/limiter.ts";
import { listRecords } from "../kernel/lists/flows/list-records.ts";
import { createPlaceReader, type OpenPlaces, type ReadPlace } from "../kernel/lists/flows/read-places.ts";
import { readHistory } from "../kernel/log/flows/read-history.ts";
import { readLog } from "../kernel/log/flows/read-log.ts";
import { readRecord, type SeeRecord, seeRecord } from "../kernel/log/flows/read-record.ts";
import { readSnapshot } from "../kernel/log/flows/read-snapshot.ts";
import type { Part } from "../kernel/part.ts";
import { awaitNews } from "../kernel/stream/await-news.ts";
import { tableConnections } from "./connections.ts";
import type { DatabaseContext } from "./context.ts";
import type { Hubs } from "./hubs.ts";

/** A tenant with tables leaves some of their connections to others. */
const tableReadsAtOnce = (connections: number) => ({ most: connections, mostPerKey: Math.max(1, connections - 2) });

/** Log and snapshot pages leave some connections to smaller requests, and a tenant leaves some to other tenants. */
const pagesAtOnce = (connections: number) => ({
  most: Math.max(1, Math.floor(0.6 * connections)),
  mostPerKey: Math.max(1, Math.floor(connections / 10)),
});

export interface Reads extends Part {
  readonly routes: ReturnType<typeof recordRoutes> & ReturnType<typeof logRoutes>;
  readonly seeRecord: SeeRecord;
}

/** Reads of records, logs and snapshots. */
export function openReads(ctx: DatabaseContext, { hub }: Hubs): Reads {
  const { pool, tables, schemas, hooks, cursors, database } = ctx;
  const { recordBytes } = ctx.limits;
  const pages = createLimiter(pagesAtOnce(database.connections));
  const log = readLog(pool, schemas);
  const ofTables = tableConnections(database.connections);
  const read = createPlaceReader(tables, tableReadsAtOnce(ofTables), () => performance.now());
  const places: OpenPlaces = { ...hooks.places, read };
  const tablePages = createLimiter(pagesAtOnce(ofTables));
  const readPage: ReadPlace = (reader, ...rest) =>
    tablePages.take(reader.tenant, reader.tokenId, () => read(reader, ...rest));
  const snapshot = readSnapshot(pool, { ...places, read: readPage }, schemas, cursors, pages, recordBytes);
  const fairLog: typeof log = (tenant, ...rest) => pages.take(tenant, "", () => log(tenant, ...rest));
  return {
    seeRecord: seeRecord(pool, places, schemas),
    routes: {
      ...recordRoutes(
        readRecord(pool, places, schemas, hooks.ofRecord),
        listRecords(pool, places, schemas, cursors),
        readHistory(pool, places, schemas, cursors),
      ),
      ...logRoutes(fairLog, snapshot, (...news) => awaitNews(hub, ...news), recordBytes),
    },
  };
}
