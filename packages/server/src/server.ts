import type { AddressInfo } from "node:net";
import {
  limits as agreed,
  type SchemaPush,
  type ServerLimits,
  serverLimits,
  webhookLimits,
} from "@holdfast/sdk/protocol";
import type { FastifyBaseLogger } from "fastify";
import { pino } from "pino";
import { readToldWorlds } from "./db/deliveries.ts";
import { isMigrated, migrate } from "./db/migrate.ts";
import { createPool } from "./db/pool.ts";
import { openPresenceLine } from "./db/presence-line.ts";
import { readCursorKey } from "./db/service-secrets.ts";
import { openWake } from "./db/wake.ts";
import { createAuthenticator } from "./flows/authenticate.ts";
import { claimFlows } from "./flows/claims.ts";
import { createCommitLane } from "./flows/commit-lane.ts";
import { countCommits } from "./flows/count-commits.ts";
import { createUsageCounter } from "./flows/count-usage.ts";
import { createDelivery } from "./flows/deliver.ts";
import { createDeliveryLedger } from "./flows/delivery-ledger.ts";
import { createLoadMeter, createPace } from "./flows/delivery-pace.ts";
import { followClaims } from "./flows/follow-claims.ts";
import { followLog } from "./flows/follow-log.ts";
import { identify } from "./flows/identify.ts";
import { keepClaims, keepWaiters } from "./flows/keep-claims.ts";
import { listDatasources } from "./flows/list-datasources.ts";
import { listRecords } from "./flows/list-records.ts";
import { modelsOf } from "./flows/models-of.ts";
import { operatorFlows } from "./flows/operator.ts";
import { pageCursors } from "./flows/page-cursor.ts";
import { prune } from "./flows/prune.ts";
import { pushSchema } from "./flows/push-schema.ts";
import { readCommit } from "./flows/read-commit.ts";
import { readHistory } from "./flows/read-history.ts";
import { readLog } from "./flows/read-log.ts";
import { readRecord } from "./flows/read-record.ts";
import { readSchema } from "./flows/read-schema.ts";
import { readSnapshot } from "./flows/read-snapshot.ts";
import { readUsage } from "./flows/read-usage.ts";
import { reconcileIndexes } from "./flows/reconcile-indexes.ts";
import { createSchemaCache } from "./flows/schema-cache.ts";
import { scopedTokenFlows } from "./flows/scoped-tokens.ts";
import { testWebhook } from "./flows/test-webhook.ts";
import { webhookEndpointFlows } from "./flows/webhook-endpoints.ts";
import { webhookEvents } from "./flows/webhook-events.ts";
import { resealSecrets, webhookSecrets } from "./flows/webhook-secrets.ts";
import type { Handlers } from "./http/answer.ts";
import { countReads } from "./http/count-reads.ts";
import { createDoor } from "./http/door.ts";
import { createEdge } from "./http/edge.ts";
import { mount } from "./http/mount.ts";
import { claimRoutes } from "./http/routes/claims.ts";
import { commitRoutes } from "./http/routes/commits.ts";
import { datasourceRoutes } from "./http/routes/datasources.ts";
import { mountDocsPage } from "./http/routes/docs-page.ts";
import { mountErrorsPage } from "./http/routes/errors-page.ts";
import { mountHealth } from "./http/routes/health.ts";
import { logRoutes } from "./http/routes/log.ts";
import { mountOpenApi } from "./http/routes/openapi.ts";
import { operatorRoutes } from "./http/routes/operator.ts";
import { recordRoutes } from "./http/routes/records.ts";
import { schemaRoutes } from "./http/routes/schemas.ts";
import { tokenRoutes } from "./http/routes/tokens.ts";
import { usageRoutes } from "./http/routes/usage.ts";
import { webhookRoutes } from "./http/routes/webhooks.ts";
import { createTraffic } from "./http/traffic.ts";
import { createUrlCheck } from "./outbound/endpoint-url.ts";
import { createWebhookSender } from "./outbound/send-webhook.ts";
import { createClaimNews, listenToLine } from "./realtime/claim-news.ts";
import { openGateway } from "./realtime/gateway.ts";
import { awaitNews, createHub } from "./realtime/hub.ts";
import { openPresenceRooms } from "./realtime/presence/rooms.ts";
import type { PresenceTimes } from "./rules/presence-mesh.ts";
import { createSeal, newMasterKey } from "./seal.ts";
import { originCheck } from "./wire/origins.ts";
import { createPublicUrl } from "./wire/public-url.ts";
import { createStrangers } from "./wire/strangers.ts";
import { startClaimKeeper } from "./workers/claim-keeper.ts";
import { startDeliverer } from "./workers/deliverer.ts";
import { startHeartbeat } from "./workers/heartbeat.ts";
import { startIndexer } from "./workers/indexer.ts";
import { startPruner } from "./workers/pruner.ts";
import { startUsageWriter } from "./workers/usage-writer.ts";

export { type EmbeddedPostgres, startEmbeddedPostgres } from "./db/embedded.ts";
export { ensureConfiguredKey, type FirstWorld } from "./flows/bootstrap.ts";
export { newSecretToken } from "./flows/secret-keys.ts";
export { newMasterKey, pushSchema };

export interface ServerOptions {
  readonly databaseUrl: string;
  /** Opens the operator routes. */
  readonly adminToken: string;
  /** 32 bytes in base64 each, the newest first: they seal the secrets that the server has to read again. */
  readonly masterKeys: readonly string[];
  readonly host?: string;
  /** 0: any free one. */
  readonly port?: number;
  /** Browser origins that may call; undefined: loopback only. */
  readonly origins?: readonly string[] | undefined;
  /** The address that answers tell of; undefined: the one that it listens on. */
  readonly publicUrl?: string | undefined;
  /** Commits in one transaction at most; 1 shows what the lane is worth. */
  readonly laneCommits?: number | undefined;
  /** Log entries older than that are taken away; undefined: the log is kept whole. */
  readonly logRetentionDays?: number | undefined;
  /** How often what is too old is taken away: every hour. */
  readonly pruneEveryMs?: number;
  /** Where the times of presence differ from the usual ones. */
  readonly presenceTimes?: Partial<PresenceTimes>;
  /** Where webhooks differ from the usual. */
  readonly webhooks?: Partial<WebhookOptions> | undefined;
  /** Where the server's own limits differ from the usual ones. */
  readonly limits?: Partial<ServerLimits>;
  /** Undefined: silent. */
  readonly logger?: FastifyBaseLogger;
}

export interface WebhookOptions {
  /** Also to http and to private addresses: for development, and for networks of one's own. */
  readonly allowPrivate: boolean;
  /** The wait before each attempt, in milliseconds. */
  readonly schedule: readonly number[];
  /** How long the secret before a roll goes on signing. */
  readonly rotationMs: number;
  readonly connectMs: number;
  readonly requestMs: number;
  /** How long nobody else sends to an endpoint after a request was begun: longer than `requestMs`. */
  readonly leaseMs: number;
}

export interface RunningServer {
  readonly url: string;
  /** In-flight requests finish, long polls answer, sockets close with 1012. */
  close(): Promise<void>;
}

/** As long a key is remembered. */
const RECEIPT_DAYS = 30;
const TOKEN_DAYS = 30;
const USAGE_DAYS = 400;
const CLAIM_DAYS = 7;
const ATTEMPT_DAYS = 30;
const HOUR_MS = 3_600_000;
/** How often open streams are noted as signs of life: well within the time that a waiter may be silent. */
const WAITERS_MS = 10_000;
/** What was counted since is lost when the process crashes. */
const USAGE_MS = 2_000;
/** A process that was killed is shown for `silentMs` and one `beatMs` more at most. */
const PRESENCE_TIMES: PresenceTimes = {
  graceMs: agreed.presenceGraceMs,
  beatMs: 10_000,
  silentMs: 40_000,
  settleMs: 150,
};
const WEBHOOKS: WebhookOptions = {
  allowPrivate: false,
  schedule: webhookLimits.schedule,
  rotationMs: webhookLimits.rotationMs,
  connectMs: webhookLimits.connectMs,
  requestMs: webhookLimits.requestMs,
  leaseMs: webhookLimits.requestMs + 5_000,
};
/** While more than about 1 000 changes a second are committed, so many deliveries are begun in each window. */
const BUSY = { most: 100, windowMs: 100 };
const DELIVERY_WINDOW = { most: 4, windowMs: 20 };
const INDEXER_TIMES = { everyMs: 600_000, busyMs: 5_000, failedMs: 60_000 };
/** Of the ten seconds that a stop may take. */
const PATIENCE_MS = 6_000;

/** The contents page of the service: its parts, in the order in which they need each other. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { databaseUrl, adminToken, host = "127.0.0.1", port = 8787 } = options;
  const logger: FastifyBaseLogger = options.logger ?? pino({ level: "silent" });
  const report = (event: string) => (error: unknown) =>
    logger.warn({ event, err: error }, "Something failed in the background.");
  const applied = await migrate(databaseUrl);
  if (applied.length > 0) logger.info({ event: "migrated", applied }, "The database is up to date.");

  const pool = createPool({ url: databaseUrl, onError: report("database_connection_lost") });
  const stopping = new AbortController();
  const schemas = createSchemaCache();
  const authenticator = createAuthenticator(pool, adminToken);
  const log = followLog(pool, schemas);
  const hub = createHub(log, report("tail_failed"));
  const claimsFollowed = followClaims(pool, schemas);
  const claimNews = createClaimNews(claimsFollowed, report("claim_news_failed"));
  const wake = openWake(databaseUrl, {
    log: (world) => {
      hub.hint(world);
      deliverer.wake(world);
    },
    claims: claimNews.changed,
  });
  const monotonic = () => performance.now();
  const load = createLoadMeter({ ...BUSY, monotonic });
  const lane = createCommitLane({
    url: databaseUrl,
    schemas,
    ...(options.laneCommits !== undefined && { maxCommits: options.laneCommits }),
    announce: (batch) => {
      hub.committed(batch);
      load.add(batch.lines.length);
      deliverer.wake(batch.world);
      wake.announce("log", batch.world);
    },
    announceClaims: (world) => {
      claimNews.changed(world);
      wake.announce("claims", world);
    },
    report: report("round_failed"),
  });
  const usage = createUsageCounter(pool, Date.now);

  const webhooks = { ...WEBHOOKS, ...options.webhooks };
  const seal = createSeal(options.masterKeys.map((key) => Buffer.from(key, "base64")));
  const unreadable = await resealSecrets(pool, seal);
  if (unreadable > 0)
    logger.warn({ event: "secrets_unreadable", unreadable }, "Webhook secrets were sealed with another master key.");
  const secrets = webhookSecrets(seal);
  const sender = createWebhookSender(webhooks);
  const toEndpoints = {
    db: pool,
    ledger: createDeliveryLedger(pool),
    secrets,
    send: sender.send,
    times: webhooks,
    monotonic,
  };
  const delivery = createDelivery({
    ...toEndpoints,
    events: webhookEvents(pool, schemas),
    pace: createPace({
      isBusy: load.isHigh,
      ...DELIVERY_WINDOW,
      monotonic,
    }),
    dice: Math.random,
    delivered: (world) => usage.add(world, "webhook_deliveries"),
  });
  const deliverer = startDeliverer({
    told: () => readToldWorlds(pool),
    ...delivery,
    failed: report("delivery_failed"),
  });
  const endpointsChanged = (world: number) => deliverer.wake(world, true);

  const isOriginAllowed = originCheck(options.origins);
  const limits: ServerLimits = { ...serverLimits, ...options.limits };
  const strangers = createStrangers(limits.rateStrangers);
  const door = createDoor(authenticator, strangers, createTraffic(limits));
  const publicUrl = createPublicUrl(options.publicUrl);
  const { docUrl } = publicUrl;
  const app = await createEdge({ logger, isOriginAllowed, docUrl, limits, stopping: stopping.signal });
  const heartbeat = startHeartbeat({
    present: () => gateway.present(),
    beat: keepWaiters(pool, lane),
    failed: report("waiters_failed"),
    everyMs: WAITERS_MS,
  });
  const rooms = openPresenceRooms({
    times: { ...PRESENCE_TIMES, ...options.presenceTimes },
    openLine: (on) => openPresenceLine(databaseUrl, on),
    // A clock that is set back would keep those who left.
    now: () => Math.floor(performance.timeOrigin + performance.now()),
    failed: report("presence_failed"),
  });
  const gateway = openGateway(app.server, {
    log,
    hub,
    rooms,
    claimNews,
    claims: claimsFollowed,
    heard: heartbeat.soon,
    authenticator,
    strangers,
    isOriginAllowed,
    docUrl,
    socketsPerToken: limits.socketsPerToken,
    now: Date.now,
  });
  const cursors = pageCursors(await readCursorKey(pool));
  const revoked = (tokenId: string) => {
    authenticator.forget(tokenId);
    return gateway.revoke(tokenId);
  };
  const indexer = startIndexer(
    async (signal) => {
      const { done, refused, ...changed } = await reconcileIndexes(databaseUrl, signal);
      if (changed.created + changed.dropped > 0) logger.info({ event: "indexed", ...changed }, "Indexes were changed.");
      if (refused.length > 0)
        logger.warn({ event: "too_many_indexes", refused }, "These fields stay without an index.");
      return done;
    },
    INDEXER_TIMES,
    report("index_failed"),
  );
  const push = async (world: number, schema: SchemaPush) => {
    const result = await pushSchema(pool, world, schema);
    indexer.wake();
    hub.hint(world);
    wake.announce("log", world);
    return result;
  };
  const handlers: Handlers = {
    ...commitRoutes(countCommits(lane, usage), docUrl, readCommit(pool)),
    ...recordRoutes(
      readRecord(pool, schemas),
      listRecords(pool, schemas, cursors),
      readHistory(pool, schemas, cursors),
    ),
    ...logRoutes(readLog(pool, schemas), readSnapshot(pool, schemas, cursors), (...news) => awaitNews(hub, ...news)),
    ...claimRoutes(claimFlows(pool, schemas, lane, (world, key) => listenToLine(claimNews, world, key))),
    ...schemaRoutes({ push, read: (world) => readSchema(pool, world) }),
    ...tokenRoutes(scopedTokenFlows(pool, schemas, cursors, revoked), identify(pool)),
    ...webhookRoutes(
      webhookEndpointFlows({
        ...{ db: pool, schemas, cursors, secrets, rotationMs: webhooks.rotationMs },
        checkUrl: createUrlCheck(webhooks),
        changed: endpointsChanged,
      }),
      testWebhook({ ...toEndpoints, endLost: delivery.endLost, changed: endpointsChanged }),
    ),
    ...datasourceRoutes(listDatasources(pool)),
    ...usageRoutes(readUsage(pool, usage, Date.now)),
    ...operatorRoutes(operatorFlows(pool, revoked)),
  };
  const counted = countReads(handlers, (world) => usage.add(world, "reads"));
  mount(app, counted, door);
  mountHealth(app, () => isMigrated(pool).catch(() => false));
  mountOpenApi(app, publicUrl, door, modelsOf(log));
  mountDocsPage(app);
  mountErrorsPage(app);
  await app.listen({ host, port });
  const url = urlOf(host, app.server.address() as AddressInfo);
  publicUrl.listeningAt(url);
  const keeper = startClaimKeeper(keepClaims(pool, lane, report("claims_failed")), report("claims_failed"));
  const usageWriter = startUsageWriter(usage.flush, USAGE_MS, report("usage_failed"));
  const retention = {
    receiptDays: RECEIPT_DAYS,
    tokenDays: TOKEN_DAYS,
    usageDays: USAGE_DAYS,
    claimDays: CLAIM_DAYS,
    attemptDays: ATTEMPT_DAYS,
  };
  const pruner = startPruner(
    () => prune(pool, { ...retention, logDays: options.logRetentionDays }),
    options.pruneEveryMs ?? HOUR_MS,
    report("prune_failed"),
  );

  const close = async () => {
    stopping.abort();
    // Who sends its request byte by byte is not waited for.
    const patience = setTimeout(() => app.server.closeAllConnections(), PATIENCE_MS).unref();
    await Promise.all([rooms.close(), gateway.close(), app.close(), deliverer.stop()]);
    clearTimeout(patience);
    await Promise.all([keeper.stop(), heartbeat.stop()]);
    await Promise.all([lane.close(), sender.close()]);
    await Promise.all([pruner.stop(), indexer.stop(), usageWriter.stop()]);
    hub.close();
    claimNews.close();
    await wake.close();
    await pool.end();
  };
  let closed: Promise<void> | undefined;
  return { url, close: () => (closed ??= close()) };
}

const urlOf = (host: string, { port }: AddressInfo): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
