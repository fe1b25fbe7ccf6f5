import type { AddressInfo } from "node:net";
import { limits as agreed, type SchemaPush, type ServerLimits, serverLimits } from "@holdfast/sdk/protocol";
import type { FastifyBaseLogger } from "fastify";
import { pino } from "pino";
import { createClientAddress } from "./addresses/client-address.ts";
import { originCheck } from "./addresses/origin-check.ts";
import { createPublicUrl } from "./addresses/public-url.ts";
import { migrate } from "./db/connection/migrate.ts";
import { createPool } from "./db/connection/pool.ts";
import { openWake } from "./db/connection/wake.ts";
import { openPresenceChannel } from "./db/presence/presence-channel.ts";
import { readCursorKey } from "./db/tokens/service-secrets.ts";
import { newMasterKey } from "./encryption.ts";
import { claimFlows } from "./flows/claims/claim-flows.ts";
import { followClaims } from "./flows/claims/follow-claims.ts";
import { keepClaims, keepWaiters } from "./flows/claims/keep-claims.ts";
import { createCommitLanes } from "./flows/commits/commit-lanes.ts";
import { countCommits } from "./flows/commits/count-commits.ts";
import { readCommit } from "./flows/commits/read-commit.ts";
import { listDatasources } from "./flows/datasources/list-datasources.ts";
import { listRecords } from "./flows/lists/list-records.ts";
import { pageCursors } from "./flows/lists/page-cursor.ts";
import { followLog } from "./flows/log/follow-log.ts";
import { followLogEpoch } from "./flows/log/log-epoch.ts";
import { readHistory } from "./flows/log/read-history.ts";
import { readLog } from "./flows/log/read-log.ts";
import { readRecord } from "./flows/log/read-record.ts";
import { readSnapshot } from "./flows/log/read-snapshot.ts";
import { createUsageCounter } from "./flows/organizations/count-usage.ts";
import { operatorFlows } from "./flows/organizations/operator-flows.ts";
import { readUsage } from "./flows/organizations/read-usage.ts";
import { databaseReadiness } from "./flows/readiness.ts";
import { modelsOf } from "./flows/schema/models-of.ts";
import { pushSchema } from "./flows/schema/push-schema.ts";
import { readSchema } from "./flows/schema/read-schema.ts";
import { createSchemaCache } from "./flows/schema/schema-cache.ts";
import { createAuthenticator } from "./flows/tokens/authenticate.ts";
import { followTokenEnds } from "./flows/tokens/follow-token-ends.ts";
import { identify } from "./flows/tokens/identify.ts";
import { scopedTokenFlows } from "./flows/tokens/scoped-token-flows.ts";
import type { Handlers } from "./http/answer.ts";
import { createAuthHook } from "./http/auth-hook.ts";
import { countReads } from "./http/count-reads.ts";
import { createCounters } from "./http/counters.ts";
import { createEdge } from "./http/edge.ts";
import { mount } from "./http/mount.ts";
import { claimRoutes } from "./http/routes/claims.ts";
import { commitRoutes } from "./http/routes/commits.ts";
import { datasourceRoutes } from "./http/routes/datasources.ts";
import { mountDocsPage } from "./http/routes/docs-page.ts";
import { mountErrorsPage } from "./http/routes/errors-page.ts";
import { mountHealth } from "./http/routes/health.ts";
import { logRoutes } from "./http/routes/log.ts";
import { mountMetrics } from "./http/routes/metrics.ts";
import { mountOpenApi } from "./http/routes/openapi.ts";
import { operatorRoutes } from "./http/routes/operator.ts";
import { recordRoutes } from "./http/routes/records.ts";
import { schemaRoutes } from "./http/routes/schemas.ts";
import { tokenRoutes } from "./http/routes/tokens.ts";
import { usageRoutes } from "./http/routes/usage.ts";
import { createTraffic } from "./http/traffic.ts";
import { createConnectionQuota } from "./limits/connection-quota.ts";
import { createFailedAuthLimiter } from "./limits/failed-auth-limiter.ts";
import { createLimiter } from "./limits/limiter.ts";
import { createMetrics } from "./metrics/prometheus.ts";
import { ROUND_BOUNDS, registerMetrics } from "./metrics/register-metrics.ts";
import { openDeliveries } from "./parts/deliveries.ts";
import { startMaintenance } from "./parts/maintenance.ts";
import { createClaimHub } from "./realtime/claims/claim-hub.ts";
import { listenToQueue } from "./realtime/claims/listen-to-queue.ts";
import { openGateway } from "./realtime/gateway.ts";
import { awaitNews } from "./realtime/log/await-news.ts";
import { createCatchUp } from "./realtime/log/catch-up.ts";
import { createHeadPoll } from "./realtime/log/head-poll.ts";
import { createHub } from "./realtime/log/hub.ts";
import type { PresenceTimes } from "./realtime/presence/presence-mesh.ts";
import { openPresenceRooms } from "./realtime/presence/presence-rooms.ts";
import type { DatabaseSettings, Report, ServerOptions } from "./server-options.ts";
import { startClaimKeeper } from "./workers/claim-keeper.ts";
import { startHeartbeat } from "./workers/heartbeat.ts";

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

/**
 * Large bodies block the event loop while they are parsed and judged, so only a few are admitted at once: while one
 * waits for the database, the next can be parsed.
 */
const LARGE_BODIES = { most: 4, mostPerKey: 1 };
/** Each welcome makes three queries, which concurrent welcomes share. */
const WELCOMES = { most: 32, mostPerKey: 24 };
/** Pushes that prepare records. Each uses a connection for the whole time. */
const PREPARING_PUSHES = { most: 2, mostPerKey: 1 };
/** Pages for sockets that catch up: few enough that commits get their share of the database. */
const CATCH_UPS = { most: 4, mostPerKey: 3 };
/** Log and snapshot pages leave some connections to smaller requests, and a tenant leaves some to other tenants. */
const pageTurns = (connections: number) => ({
  most: Math.max(1, Math.floor(0.6 * connections)),
  mostPerKey: Math.max(1, Math.floor(connections / 10)),
});
const DATABASE: DatabaseSettings = {
  connections: 10,
  authConnections: 2,
  waitMs: 5_000,
  lockMs: 40,
  cacheMegabytes: 128,
};
/** How often open streams count as a sign of life: well within the time after which a waiter counts as silent. */
const WAITERS_MS = 10_000;
/** The members of a killed process stay visible for at most `silentMs` plus one `beatMs`. */
const PRESENCE_TIMES: PresenceTimes = {
  graceMs: agreed.presenceGraceMs,
  beatMs: 10_000,
  silentMs: 40_000,
  settleMs: 150,
};
/** Bounds within the ten seconds that a stop may take. */
const PATIENCE_MS = 6_000;
const CLOSE_MS = 8_000;

/** Starts the server: creates its parts in dependency order and connects them. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { databaseUrl, adminToken, host = "127.0.0.1", port = 8787 } = options;
  const logger: FastifyBaseLogger = options.logger ?? pino({ level: "silent" });
  const failures = new Map<string, number>();
  const report: Report = (event) => (error) => {
    failures.set(event, (failures.get(event) ?? 0) + 1);
    logger.warn({ event, err: error }, "Something failed in the background.");
  };
  const metrics = createMetrics(report("metrics_failed"));
  const applied = await migrate(databaseUrl);
  if (applied.length > 0) logger.info({ event: "migrated", applied }, "The database is up to date.");

  const database = { ...DATABASE, ...options.database };
  const onError = report("database_connection_lost");
  const { waitMs } = database;
  /** Callbacks that discard what was read from the logs. Parts register them as they are created. */
  const forgets: (() => void)[] = [];
  const epochs = followLogEpoch(() => pool, {
    changed: () => {
      for (const forget of forgets) forget();
    },
    renewed: (origin) =>
      logger.warn(
        { event: "logs_renewed", ...origin },
        "The database was restored or replaced: all logs have new ids, and clients read them again.",
      ),
    unknown: () =>
      logger.warn(
        { event: "database_origin_unknown" },
        "The database does not reveal its system identifier and timeline: run `holdfast log renew` after a restore or failover.",
      ),
  });
  const { verify } = epochs;
  const pool = createPool({ url: databaseUrl, maxConnections: database.connections, waitMs, onError, verify });
  // A separate pool, so that authentication works while everything else waits for the database.
  const authPool = createPool({ url: databaseUrl, maxConnections: database.authConnections, waitMs, onError, verify });
  const stopping = new AbortController();
  const cacheBytes = database.cacheMegabytes * 2 ** 20;
  const schemas = createSchemaCache(cacheBytes / 2);
  const ends = followTokenEnds(authPool, (id) => authenticator.forget(id), report("token_ends_failed"));
  const authenticator = createAuthenticator(authPool, adminToken, {
    hearsEnds: () => ends.hearsAll(),
    maxBytes: cacheBytes / 4,
  });
  const cursors = pageCursors(await readCursorKey(pool));
  const usage = createUsageCounter(pool, Date.now);
  const deliveries = await openDeliveries({ ...options, pool, schemas, cursors, usage, logger, report });
  const log = followLog(pool, schemas);
  const heads = createHeadPoll(log.heads, report("tail_failed"));
  const hub = createHub(log, heads, report("tail_failed"));
  const claimsFollowed = followClaims(pool, schemas);
  const claimHub = createClaimHub(claimsFollowed, heads, report("claim_news_failed"));
  const wake = openWake(databaseUrl, {
    log: (tenant, position) => {
      hub.hint(tenant, position);
      if (position !== undefined) lane.moved(tenant, position);
      deliveries.wake(tenant);
    },
    schema: hub.schemaHint,
    claims: claimHub.changed,
    token: authenticator.forget,
    renewed: () => void epochs.ask().catch(report("log_epoch_failed")),
    opened: () => {
      heads.askAll();
      void epochs.ask().catch(report("log_epoch_failed"));
    },
  });
  const roundTook = metrics.histogram(
    "holdfast_round_seconds",
    "Time from a transaction's first request until its commit.",
    ROUND_BOUNDS,
  );
  const limits: ServerLimits = { ...serverLimits, ...options.limits };
  const lane = createCommitLanes({
    url: databaseUrl,
    verify,
    schemas,
    recordBytes: limits.recordBytes,
    commitBytes: limits.commitBytes,
    headBytes: cacheBytes / 8,
    lockMs: database.lockMs,
    ...(options.laneCommits !== undefined && { maxCommits: options.laneCommits }),
    announce: (batch) => {
      hub.committed(batch);
      deliveries.committed(batch.tenant, batch.entries.length);
      wake.log(batch.tenant, batch.to);
    },
    announceClaims: (tenant) => {
      claimHub.changed(tenant);
      wake.claims(tenant);
    },
    took: (ms) => roundTook(ms / 1_000),
    report: report("round_failed"),
  });
  const catchUp = createCatchUp(log, createLimiter(CATCH_UPS), cacheBytes / 8);
  const caches = { schemas, tokens: authenticator, heads: lane.knownHeads, pages: catchUp };
  const isOriginAllowed = originCheck(options.origins);
  const failedAuths = createFailedAuthLimiter(limits.rateFailedAuth);
  const clientAddress = createClientAddress(options.trustProxy);
  const quota = createConnectionQuota(limits, clientAddress.isProxy);
  const authHook = createAuthHook({ authenticator, clientAddress, quota, failedAuths, traffic: createTraffic(limits) });
  const publicUrl = createPublicUrl(options.publicUrl);
  const { docUrl } = publicUrl;
  const counters = createCounters();
  const largeBodies = createLimiter(LARGE_BODIES);
  const app = await createEdge({
    logger,
    isOriginAllowed,
    docUrl,
    limits,
    counters,
    largeBodies,
    stopping: stopping.signal,
  });
  quota.watch(app.server);
  const heartbeat = startHeartbeat({
    present: () => gateway.present(),
    beat: keepWaiters(pool, lane),
    failed: report("waiters_failed"),
    everyMs: WAITERS_MS,
  });
  const rooms = openPresenceRooms({
    times: { ...PRESENCE_TIMES, ...options.presenceTimes },
    openLine: (on) => openPresenceChannel(databaseUrl, on),
    // Monotonic: if the wall clock were set back, departed members would stay visible.
    now: () => Math.floor(performance.timeOrigin + performance.now()),
    failed: report("presence_failed"),
  });
  const gateway = openGateway(app.server, {
    log,
    hub,
    catchUp,
    welcomes: createLimiter(WELCOMES),
    rooms,
    claimHub,
    claims: claimsFollowed,
    heard: heartbeat.soon,
    authenticator,
    failedAuths,
    clientAddress,
    quota,
    isOriginAllowed,
    docUrl,
    socketsPerToken: limits.socketsPerToken,
    now: Date.now,
  });
  forgets.push(
    schemas.forget,
    authenticator.forgetAll,
    lane.forget,
    catchUp.forget,
    hub.forget,
    claimHub.forget,
    deliveries.forget,
    () => gateway.restart("the logs have new ids"),
  );
  const revoked = (tokenId: string) => {
    authenticator.forget(tokenId);
    wake.token(tokenId);
    return gateway.revoke(tokenId);
  };
  const maintenance = startMaintenance({ ...options, pool, usage, logger, report });
  const preparing = createLimiter(PREPARING_PUSHES);
  const push = async (tenant: number, schema: SchemaPush) => {
    const result = await pushSchema(pool, tenant, schema, {
      preparing,
      stopping: stopping.signal,
    });
    maintenance.schemaChanged();
    hub.schemaHint(tenant);
    wake.schema(tenant);
    return result;
  };
  const pages = createLimiter(pageTurns(database.connections));
  const feed = readLog(pool, schemas);
  const snapshot = readSnapshot(pool, schemas, cursors);
  const fairLog: typeof feed = (tenant, ...rest) => pages.take(tenant, "", () => feed(tenant, ...rest));
  const fairSnapshot: typeof snapshot = (request) =>
    pages.take(request.reader.tenant, request.reader.tokenId, () => snapshot(request));
  const handlers: Handlers = {
    ...commitRoutes(countCommits(lane.submit, usage), docUrl, readCommit(pool)),
    ...recordRoutes(
      readRecord(pool, schemas),
      listRecords(pool, schemas, cursors),
      readHistory(pool, schemas, cursors),
    ),
    ...logRoutes(fairLog, fairSnapshot, (...news) => awaitNews(hub, ...news)),
    ...claimRoutes(claimFlows(pool, schemas, lane, (tenant, key) => listenToQueue(claimHub, tenant, key))),
    ...schemaRoutes({ push, read: (tenant) => readSchema(pool, tenant) }),
    ...tokenRoutes(scopedTokenFlows(pool, schemas, cursors, revoked), identify(pool)),
    ...deliveries.routes,
    ...datasourceRoutes(listDatasources(pool)),
    ...usageRoutes(readUsage(pool, usage, Date.now)),
    ...operatorRoutes(operatorFlows(pool, revoked)),
  };
  const counted = countReads(handlers, (tenant) => usage.add(tenant, "reads"));
  mount(app, counted, authHook);
  mountHealth(app, databaseReadiness(pool, lane.canCommit));
  registerMetrics(metrics, { pool, authPool, counters, usage, lane, gateway, failures, caches });
  mountMetrics(app, {
    token: options.metricsToken,
    loopback: options.metricsLoopback === true,
    failedAuths,
    clientAddress,
    text: metrics.text,
  });
  mountOpenApi(app, publicUrl, authHook, modelsOf(log));
  mountDocsPage(app);
  mountErrorsPage(app);
  await options.beforeListening?.();
  await app.listen({ host, port });
  const url = urlOf(host, app.server.address() as AddressInfo);
  publicUrl.listeningAt(url);
  const keeper = startClaimKeeper(keepClaims(pool, lane, report("claims_failed")), report("claims_failed"));

  const closeAll = async () => {
    stopping.abort();
    // Do not wait for clients that send their requests too slowly.
    const patience = setTimeout(() => app.server.closeAllConnections(), PATIENCE_MS).unref();
    await Promise.all([rooms.close(), gateway.close(), app.close(), deliveries.stop()]);
    clearTimeout(patience);
    await Promise.all([keeper.stop(), heartbeat.stop()]);
    await Promise.all([lane.close(), deliveries.close()]);
    await maintenance.stop();
    heads.close();
    await ends.stop();
    await wake.close();
    await Promise.all([pool.end(), authPool.end()]);
  };
  const close = () => withinTime(closeAll(), CLOSE_MS);
  let closed: Promise<void> | undefined;
  return { url, close: () => (closed ??= close()) };
}

/** Do not wait for a database that does not respond: everything that was acknowledged is committed. */
async function withinTime(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]).finally(() => clearTimeout(timer));
}

const urlOf = (host: string, { port }: AddressInfo): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
