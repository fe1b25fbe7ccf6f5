import type { AddressInfo } from "node:net";
import type { FastifyError, FastifyInstance } from "fastify";
import type { Handlers } from "../edge/http/answer.ts";
import { countReads } from "../edge/http/count-reads.ts";
import { type Counters, createCounters } from "../edge/http/counters.ts";
import { createEdge, refusalOf } from "../edge/http/edge.ts";
import { endpointCalls } from "../edge/http/endpoint-call.ts";
import { mount } from "../edge/http/mount.ts";
import { mountOwnRoutes } from "../edge/http/own-routes.ts";
import { mountDocsPage } from "../edge/http/routes/docs-page.ts";
import { mountErrorsPage } from "../edge/http/routes/errors-page.ts";
import { mountHealth } from "../edge/http/routes/health.ts";
import { mountMetrics } from "../edge/http/routes/metrics.ts";
import { mountOpenApi } from "../edge/http/routes/openapi.ts";
import { streamCalls } from "../edge/http/stream-calls.ts";
import { createLimiter } from "../kernel/limits/limiter.ts";
import type { Part } from "../kernel/part.ts";
import { databaseReadiness, followReadiness } from "../kernel/readiness.ts";
import { modelsOf } from "../kernel/schema/flows/models-of.ts";
import type { StreamAnswers } from "../kernel/stream-answers.ts";
import type { Directory } from "../kernel/tenant-data.ts";
import { databaseOf } from "../modules/own-module.ts";
import type { Authentication } from "./authentication.ts";
import type { ServerContext } from "./context.ts";
import type { TenantDatabases } from "./tenant-databases.ts";

/**
 * Large bodies block the event loop while they are parsed and judged, so only a few are admitted at once: while one
 * waits for the database, the next can be parsed.
 */
const LARGE_BODIES = { most: 4, mostPerKey: 1 };
/** How long a stop waits for clients that send their requests too slowly. */
const PATIENCE_MS = 6_000;

/** The HTTP server. */
export interface Http extends Part {
  readonly app: FastifyInstance;
  readonly counters: Counters;
  /** Accepts no more connections. What has arrived before is read. */
  refuseMore(): Promise<void>;
}

export async function openHttp(
  { logger, limits, publicUrl, stopping, answers }: ServerContext,
  isOriginAllowed: (origin: string) => boolean,
  { quota }: Authentication,
): Promise<Http> {
  const counters = createCounters();
  const { app, connections } = await createEdge({
    ...{ logger, isOriginAllowed, limits, counters, answers, stopping },
    docUrl: publicUrl.docUrl,
    largeBodies: createLimiter(LARGE_BODIES),
  });
  quota.watch(app.server);
  let closed: Promise<void> | undefined;
  return {
    app,
    counters,
    async refuseMore() {
      ({ closed } = await connections.refuseMore());
    },
    async stop() {
      const patience = setTimeout(() => app.server.closeAllConnections(), PATIENCE_MS).unref();
      await (closed ?? app.close());
      clearTimeout(patience);
    },
  };
}

/** Returns what answers requests that come on a stream. */
export function mountRoutes(
  { options, usage, metrics, publicUrl, answers, stopping }: ServerContext,
  { app, counters }: Http,
  { authHook, authenticator, traffic, failedAuths, clientAddress }: Authentication,
  { own, of: databaseAt, followed, served }: TenantDatabases,
  directory: Directory,
  handlers: Handlers,
): StreamAnswers {
  const calls = endpointCalls(
    countReads(handlers, (tenant) => usage.add(tenant, "reads")),
    (of) => {
      const found = followed(of);
      return found instanceof Promise ? found.then(({ clientSchemas }) => clientSchemas) : found.clientSchemas;
    },
  );
  mount(app, calls, authHook);
  mountOwnRoutes(app, authHook, options.modules ?? [], async (of) => databaseOf((await databaseAt(of)).pool));
  mountHealth(app, {
    isReady: followReadiness(databaseReadiness(own.pool, own.lanes.canCommit)),
    others: served,
    hosts: directory.hosts,
    ...{ adminToken: options.adminToken, failedAuths, clientAddress },
  });
  mountMetrics(app, {
    token: options.metricsToken,
    loopback: options.metricsLoopback === true,
    ...{ failedAuths, clientAddress, text: metrics.text },
  });
  mountOpenApi(app, publicUrl, authHook, async (of) => await modelsOf((await followed(of)).log, of.tenant));
  mountDocsPage(app);
  mountErrorsPage(app);
  return streamCalls({
    ...{ calls, authenticator, traffic, counters, answers, stopping },
    docUrl: publicUrl.docUrl,
    failed: (error) => refusalOf(error as FastifyError, app.log),
  });
}

/** Accepts requests from now on. Returns the URL. */
export async function listen({ options, publicUrl }: ServerContext, { app }: Http): Promise<string> {
  const { host = "127.0.0.1", port = 8787 } = options;
  await options.beforeListening?.();
  await app.listen({ host, port });
  const url = urlOf(host, app.server.address() as AddressInfo);
  publicUrl.listeningAt(url);
  return url;
}

const urlOf = (host: string, { port }: AddressInfo): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
