import { serverLimits } from "@holdfast/sdk/protocol";
import type { FastifyBaseLogger } from "fastify";
import { pino } from "pino";
import { originCheck } from "./addresses/origin-check.ts";
import { createPublicUrl } from "./addresses/public-url.ts";
import { migrate } from "./db/connection/migrate.ts";
import { readCursorKey } from "./db/tokens/service-secrets.ts";
import { newMasterKey } from "./encryption.ts";
import { pageCursors } from "./flows/lists/page-cursor.ts";
import { createUsageCounter } from "./flows/organizations/count-usage.ts";
import { pushSchema } from "./flows/schema/push-schema.ts";
import { createSchemaCache } from "./flows/schema/schema-cache.ts";
import { createMetrics } from "./metrics/prometheus.ts";
import { registerMetrics } from "./metrics/register-metrics.ts";
import { openAuthentication } from "./parts/authentication.ts";
import { openClaims } from "./parts/claims.ts";
import { openCommits } from "./parts/commits.ts";
import type { ServerContext } from "./parts/context.ts";
import { openDatabase } from "./parts/database.ts";
import { openDeliveries } from "./parts/deliveries.ts";
import { listen, mountRoutes, openHttp } from "./parts/http.ts";
import { openHubs } from "./parts/hubs.ts";
import { openMaintenance } from "./parts/maintenance.ts";
import type { Part } from "./parts/part.ts";
import { openReads } from "./parts/reads.ts";
import { openSchemas } from "./parts/schemas.ts";
import { openStreams } from "./parts/streams.ts";
import { openTokens } from "./parts/tokens.ts";
import type { DatabaseSettings, Report, ServerOptions } from "./server-options.ts";

export { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres/embedded-postgres.ts";
export { ensureConfiguredKey, type FirstTenant } from "./flows/tokens/ensure-configured-key.ts";
export { newSecretToken } from "./flows/tokens/secret-keys.ts";
export { listenWhileStarting } from "./http/starting-server.ts";
export type { ServerOptions, WebhookOptions } from "./server-options.ts";
export { newMasterKey, pushSchema };

export interface RunningServer {
  readonly url: string;
  /** Lets running requests finish, makes long polls respond, and closes sockets with 1012. */
  close(): Promise<void>;
}

const DATABASE: DatabaseSettings = {
  connections: 10,
  authConnections: 2,
  waitMs: 5_000,
  lockMs: 40,
  cacheMegabytes: 128,
};
/** Bounds the ten seconds that a stop may take. */
const CLOSE_MS = 8_000;

/** Starts the server: opens its parts, each with those that it uses. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const logger: FastifyBaseLogger = options.logger ?? pino({ level: "silent" });
  const failures = new Map<string, number>();
  const report: Report = (event) => (error) => {
    failures.set(event, (failures.get(event) ?? 0) + 1);
    logger.warn({ event, err: error }, "Something failed in the background.");
  };
  const metrics = createMetrics(report("metrics_failed"));
  const applied = await migrate(options.databaseUrl);
  if (applied.length > 0) logger.info({ event: "migrated", applied }, "The database is up to date.");

  const parts: Part[] = [];
  const opened = <P extends Part>(part: P): P => {
    parts.push(part);
    return part;
  };
  const stopping = new AbortController();
  const settings = { ...DATABASE, ...options.database };
  const cacheBytes = settings.cacheMegabytes * 2 ** 20;
  const database = opened(
    openDatabase({
      ...{ url: options.databaseUrl, settings, logger, report },
      replaced: () => {
        for (const { forget } of parts) forget?.();
      },
    }),
  );
  const { pool, authPool, wake, verify } = database;
  const ctx: ServerContext = {
    ...{ options, database: settings, cacheBytes, logger, report, metrics, pool, authPool, wake, verify },
    limits: { ...serverLimits, ...options.limits },
    schemas: createSchemaCache(cacheBytes / 2),
    cursors: pageCursors(await readCursorKey(pool)),
    usage: createUsageCounter(pool, Date.now),
    publicUrl: createPublicUrl(options.publicUrl),
    stopping: stopping.signal,
  };
  const isOriginAllowed = originCheck(options.origins);

  const maintenance = opened(openMaintenance(ctx));
  const authentication = opened(openAuthentication(ctx));
  const hubs = opened(openHubs(ctx));
  const deliveries = opened(await openDeliveries(ctx));
  const commits = opened(openCommits(ctx, hubs, deliveries));
  const claims = opened(openClaims(ctx, hubs, commits));
  const reads = opened(openReads(ctx, hubs));
  const schemas = opened(openSchemas(ctx, hubs, maintenance));
  const http = opened(await openHttp(ctx, isOriginAllowed, authentication));
  const streams = opened(openStreams(ctx, http.app.server, isOriginAllowed, authentication, hubs, commits));
  const tokens = opened(openTokens(ctx, authentication, streams));
  mountRoutes(ctx, http, authentication, commits, hubs, {
    ...commits.routes,
    ...reads.routes,
    ...claims.routes,
    ...schemas.routes,
    ...tokens.routes,
    ...deliveries.routes,
  });
  registerMetrics(metrics, {
    ...{ pool, authPool, failures, usage: ctx.usage, counters: http.counters },
    ...{ lane: commits.lanes, gateway: streams.gateway },
    caches: {
      schemas: ctx.schemas,
      tokens: authentication.authenticator,
      heads: commits.lanes.knownHeads,
      pages: hubs.catchUp,
    },
  });
  const url = await listen(ctx, http);

  async function closeAll(): Promise<void> {
    stopping.abort();
    await Promise.all(parts.map(({ stop }) => stop?.()));
    for (const { close } of parts.toReversed()) await close?.();
  }
  let closed: Promise<void> | undefined;
  return { url, close: () => (closed ??= withinTime(closeAll(), CLOSE_MS)) };
}

/** Do not wait for a database that does not respond: everything that was acknowledged is committed. */
async function withinTime(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]).finally(() => clearTimeout(timer));
}
