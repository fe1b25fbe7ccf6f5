import { getHeapStatistics } from "node:v8";
import { type ServerLimits, serverLimits } from "@holdfast/sdk/protocol";
import type { FastifyBaseLogger } from "fastify";
import { pino } from "pino";
import { originCheck } from "./edge/addresses/origin-check.ts";
import { createPublicUrl } from "./edge/addresses/public-url.ts";
import { createMetrics } from "./edge/metrics/prometheus.ts";
import { ROUND_BOUNDS, registerMetrics } from "./edge/metrics/register-metrics.ts";
import { createEncryption, newMasterKey as masterKey } from "./encryption.ts";
import { readOwnService } from "./kernel/connection/database-owner.ts";
import { migrate } from "./kernel/connection/migrate.ts";
import { type AnswerBounds, createAnswerBytes } from "./kernel/limits/answer-bytes.ts";
import { createIncomingAnswers } from "./kernel/limits/incoming-answers.ts";
import { pageCursors } from "./kernel/lists/flows/page-cursor.ts";
import { createUsageCounter } from "./kernel/organizations/flows/count-usage.ts";
import { createParts } from "./kernel/part.ts";
import { readCursorKey } from "./kernel/tokens/db/service-secrets.ts";
import { newSecretToken as secretToken } from "./kernel/tokens/flows/secret-keys.ts";
import { builtIn, directoryOf, hooksOf, measureModules, openServiceModules } from "./modules/open-modules.ts";
import { ownModules } from "./modules/own-module.ts";
import { openAuthentication } from "./open/authentication.ts";
import { openConnections } from "./open/connections.ts";
import type { ServerContext } from "./open/context.ts";
import { listen, mountRoutes, openHttp } from "./open/http.ts";
import { openOtherDatabases } from "./open/other-databases.ts";
import { openStreams, type Streams } from "./open/streams.ts";
import { openTenantDatabase } from "./open/tenant-database.ts";
import { openTenantDatabases } from "./open/tenant-databases.ts";
import { openTokens } from "./open/tokens.ts";
import { openUsage } from "./open/usage.ts";
import type { DatabaseSettings, Report, ServerOptions } from "./server-options.ts";

export { listenWhileStarting } from "./edge/http/starting-server.ts";
export { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres/embedded-postgres.ts";
export type {
  ModuleAnswer,
  ModuleCommit,
  ModuleDatabase,
  ModuleRefusal,
  ModuleRequest,
  ModuleRound,
  ModuleRounds,
  ModuleRoute,
  ModuleStatement,
  ServerModule,
} from "./server-module.ts";
export type { ServerOptions, WebhookOptions } from "./server-options.ts";

// Constants and no re-exports: the declarations of those files import pg's, which need TypeScript 5.7.
export const newMasterKey: () => string = masterKey;
export const newSecretToken: (livemode: boolean) => string = secretToken;

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
/** Bytes of the answers of callers' services. */
const INCOMING = { perTenant: 2 ** 26, total: 2 ** 28 };
/** Bounds the ten seconds that a stop may take. */
const CLOSE_MS = 8_000;

/** Starts the server: opens its parts, each with those that it uses. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const all = [...builtIn, ...ownModules(options.modules ?? [])];
  const logger: FastifyBaseLogger = options.logger ?? pino({ level: "silent" });
  const failures = new Map<string, number>();
  const report: Report = (event) => (error) => {
    failures.set(event, (failures.get(event) ?? 0) + 1);
    logger.warn({ event, err: error }, "Something failed in the background.");
  };
  const metrics = createMetrics(report("metrics_failed"));
  const applied = await migrate(options.databaseUrl);
  if (applied.length > 0) logger.info({ event: "migrated", applied }, "The database is up to date.");

  const { opened, forget, stop, close, giveUp } = createParts();
  const stopping = new AbortController();
  const settings = { ...DATABASE, ...options.database };
  const cacheBytes = settings.cacheMegabytes * 2 ** 20;
  const database = opened(
    openConnections({ ...{ url: options.databaseUrl, settings, logger, report }, replaced: forget }),
  );
  const { pool } = database;
  const limits = { ...serverLimits, ...options.limits };
  const service = await readOwnService(pool).catch(giveUp);
  if (all.length > builtIn.length)
    logger.info(
      { event: "modules", modules: (options.modules ?? []).map(({ name }) => name) },
      "The server has loaded modules of its own.",
    );
  const ctx: ServerContext = {
    ...{ options, database: settings, logger, report, metrics },
    roundTook: metrics.histogram(
      "holdfast_round_seconds",
      "Time from a transaction's first request until its commit.",
      ROUND_BOUNDS,
    ),
    limits,
    answers: createAnswerBytes(answerBounds(limits)),
    incoming: createIncomingAnswers(INCOMING),
    encryption: createEncryption(options.masterKeys.map((key) => Buffer.from(key, "base64"))),
    cursors: pageCursors(await readCursorKey(pool)),
    usage: createUsageCounter(pool, Date.now),
    hooks: hooksOf(all),
    publicUrl: createPublicUrl(options.publicUrl),
    stopping: stopping.signal,
  };
  const isOriginAllowed = originCheck(options.origins);

  const authentication = opened(openAuthentication(ctx, database, cacheBytes / 4));
  const { forgetAll } = authentication.authenticator;
  const usage = opened(openUsage(ctx, pool));
  const own = opened(await openTenantDatabase(ctx, database, cacheBytes, all).catch(giveUp));
  const directory = directoryOf(ctx, pool, all);
  let streams: Streams | undefined;
  const openOther = openOtherDatabases(ctx, {
    ...{ directory, service, modules: all, cacheBytes: cacheBytes / 8 },
    replaced(id) {
      streams?.gateway.restart("the logs have new ids", (who) => who.database === id);
      // A backup may be of an earlier release: opening it again migrates it.
      databases.reopen(id);
    },
  });
  const databases = opened(openTenantDatabases({ own, open: openOther, failed: report("datasource_failed") }));
  function hasMoved(tenant: number): void {
    forgetAll();
    streams?.gateway.restart("the tenant has moved", (who) => who.tenant === tenant);
  }
  database.wake.subscribe({ moved: hasMoved, opened: forgetAll });
  const http = opened(await openHttp(ctx, isOriginAllowed, authentication));
  const ofService = { ...ctx, own: database, service, databases, directory, hasMoved };
  const modules = opened(await openServiceModules(ofService, all).catch(giveUp));
  streams = opened(openStreams(ctx, isOriginAllowed, authentication, databases, modules));
  const tokens = opened(openTokens(ctx, database, authentication, streams, databases));
  const streamAnswers = mountRoutes(ctx, http, authentication, databases, directory, {
    ...databases.routes,
    ...tokens.routes,
    ...usage.routes,
    ...modules.routes,
  });
  streams.gateway.accept(http.app.server, streamAnswers);
  registerMetrics(metrics, {
    ...{ pool, authPool: authentication.pool, failures, usage: ctx.usage, counters: http.counters },
    answers: ctx.answers,
    others: databases.served,
    ...{ lane: own.lanes, gateway: streams.gateway },
    caches: {
      schemas: own.schemas.use,
      tokens: authentication.authenticator.use,
      heads: own.lanes.headsUse,
      pages: own.followed.catchUp.use,
    },
  });
  measureModules(metrics, pool, all);
  const url = await listen(ctx, http);

  async function closeAll(): Promise<void> {
    await http.refuseMore();
    stopping.abort();
    await stop();
    await close();
  }
  let closed: Promise<void> | undefined;
  return { url, close: () => (closed ??= withinTime(closeAll(), CLOSE_MS)) };
}

function answerBounds({ answerBytesPerToken, answerBytes }: ServerLimits): AnswerBounds {
  return { perToken: answerBytesPerToken, total: answerBytes || getHeapStatistics().heap_size_limit / 4 };
}

/** Do not wait for a database that does not respond: everything that was acknowledged is committed. */
async function withinTime(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]).finally(() => clearTimeout(timer));
}
