import { listRecords } from "../flows/lists/list-records.ts";
import { readHistory } from "../flows/log/read-history.ts";
import { readLog } from "../flows/log/read-log.ts";
import { readRecord } from "../flows/log/read-record.ts";
import { readSnapshot } from "../flows/log/read-snapshot.ts";
import { logRoutes } from "../http/routes/log.ts";
import { recordRoutes } from "../http/routes/records.ts";
import { createLimiter } from "../limits/limiter.ts";
import { awaitNews } from "../realtime/log/await-news.ts";
import type { PlaneContext } from "./context.ts";
import type { Hubs } from "./hubs.ts";
import type { Part } from "./part.ts";

/** Log and snapshot pages leave some connections to smaller requests, and a tenant leaves some to other tenants. */
const pagesAtOnce = (connections: number) => ({
  most: Math.max(1, Math.floor(0.6 * connections)),
  mostPerKey: Math.max(1, Math.floor(connections / 10)),
});

export interface Reads extends Part {
  readonly routes: ReturnType<typeof recordRoutes> & ReturnType<typeof logRoutes>;
}

/** Reads of records, logs and snapshots. */
export function openReads(ctx: PlaneContext, { hub }: Hubs): Reads {
  const { pool, schemas, cursors, database } = ctx;
  const pages = createLimiter(pagesAtOnce(database.connections));
  const log = readLog(pool, schemas);
  const snapshot = readSnapshot(pool, schemas, cursors);
  const fairLog: typeof log = (tenant, ...rest) => pages.take(tenant, "", () => log(tenant, ...rest));
  const fairSnapshot: typeof snapshot = (request) =>
    pages.take(request.reader.tenant, request.reader.tokenId, () => snapshot(request));
  return {
    routes: {
      ...recordRoutes(
        readRecord(pool, schemas),
        listRecords(pool, schemas, cursors),
        readHistory(pool, schemas, cursors),
      ),
      ...logRoutes(fairLog, fairSnapshot, (...news) => awaitNews(hub, ...news)),
    },
  };
}
