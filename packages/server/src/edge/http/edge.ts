import cors from "@fastify/cors";
import { type ErrorCode, headers, limits, type ServerLimits } from "@holdfast/sdk/protocol";
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from "fastify";
import { newId } from "../../ids.ts";
import { failureCode, UnreadableTable } from "../../kernel/failure.ts";
import type { AnswerBytes } from "../../kernel/limits/answer-bytes.ts";
import { createLimiter, type Limiter } from "../../kernel/limits/limiter.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";
import { hasToken, searchOf } from "../addresses/request-url.ts";
import type { DocUrl } from "../envelope/envelope.ts";
import { isJsonType, parseJson } from "../payload/parse-json.ts";
import { brokenRequests } from "./broken-requests.ts";
import { type Connections, watchConnections } from "./connections.ts";
import { countAnswers } from "./count-answers.ts";
import type { Counters } from "./counters.ts";
import { drain } from "./drain.ts";
import { sendRefusal } from "./mount.ts";
import { whenEnded } from "./when-ended.ts";

export interface EdgeOptions {
  readonly logger: FastifyBaseLogger;
  isOriginAllowed(origin: string): boolean;
  readonly stopping: AbortSignal;
  readonly docUrl: DocUrl;
  readonly limits: ServerLimits;
  readonly counters: Counters;
  readonly answers: AnswerBytes;
  /** Limits how many large bodies are processed at once, in fair order. */
  readonly largeBodies: Limiter;
}

export interface Edge {
  readonly app: FastifyInstance;
  readonly connections: Connections;
}

/** Headers that may occur only once, each with its own bit. */
const ONCE = new Map(
  [
    ...["authorization", "content-type", "content-length", "host"],
    ...[headers.idempotencyKey, headers.reason, headers.run, headers.onBehalfOf],
  ].map((name, i) => [name, 1 << i]),
);

/** The HTTP server before its routes are mounted: limits, JSON bodies, CORS, and the error envelope. */
export async function createEdge({
  logger,
  isOriginAllowed,
  stopping,
  docUrl,
  counters,
  answers,
  largeBodies,
  limits: { headerBytes, headerCount, headersMs, requestMs },
}: EdgeOptions): Promise<Edge> {
  const broken = brokenRequests(docUrl);
  const app = fastify({
    loggerInstance: logger,
    // Nothing is logged per request, so no child loggers are created.
    childLoggerFactory: (parent) => parent,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => newId("req_"),
    requestIdHeader: false,
    routerOptions: { maxParamLength: 512 },
    bodyLimit: limits.batchBodyBytes,
    requestTimeout: requestMs,
    return503OnClosing: false,
    forceCloseConnections: "idle",
    // Node checks for slow headers only at intervals. The timeout and the interval together are the limit.
    http: {
      maxHeaderSize: headerBytes,
      headersTimeout: Math.min(0.9 * headersMs, requestMs),
      connectionsCheckingInterval: 0.1 * headersMs,
      keepAliveTimeout: 65_000,
    },
    clientErrorHandler: broken.answer,
    frameworkErrors: (_error, request, reply) => {
      void reply.header(headers.requestId, request.id);
      return sendRefusal(reply as never, refuse("invalid_body", { message: "The URL is malformed." }));
    },
  });
  // Node silently drops headers beyond its maximum. Accept all here; they are counted below.
  app.server.maxHeadersCount = 0;
  // For an unknown `Expect` header, Node would respond with 417 and no envelope.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  broken.watch(app.server);
  const connections = watchConnections(app, stopping);
  app.decorate("stopping", stopping);
  app.decorate("docUrl", docUrl);
  app.decorate("counters", counters);
  app.decorate("routeTable", []);
  app.addHook("onRoute", ({ method, path }) => {
    if (path.includes("*")) return;
    const pattern = new RegExp(`^${path.replace(/:[^/]+/g, "[^/]+")}$`);
    for (const one of [method].flat()) app.routeTable.push({ method: one, pattern });
  });
  // Callbacks instead of promises: these hooks run for every request.
  app.addHook("onRequest", (request, reply, next) => {
    counters.requests += 1;
    void reply.header(headers.requestId, request.id);
    const refusal = stopping.aborted
      ? refuse("unavailable", { message: "The server is stopping." })
      : checkHeaders(request.raw.rawHeaders, request.url, headerCount);
    if (refusal) sendRefusal(reply, refusal);
    else next();
  });
  await app.register(cors, {
    origin: (origin, decide) => decide(null, origin !== undefined && isOriginAllowed(origin)),
    methods: ["GET", "HEAD", "POST", "PATCH", "DELETE"],
    exposedHeaders: [
      headers.requestId,
      headers.replayed,
      headers.held,
      headers.retryAfter,
      "ratelimit-limit",
      "ratelimit-remaining",
      "ratelimit-reset",
    ],
    maxAge: 7_200,
    strictPreflight: false,
  });
  // Respond even to a preflight that is not permitted: the browser then blocks the request.
  app.addHook("onRequest", (request, reply, next) => {
    if (request.method === "OPTIONS") void reply.code(204).send();
    else next();
  });
  takeOnlyJson(app, largeBodies);
  countAnswers(app, answers);
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    const refusal = refusalOf(error, app.log);
    // A client that is still sending does not read a response.
    if (refusal.code === "request_too_large" && !(await drain(request.raw))) void reply.header("connection", "close");
    return sendRefusal(reply, refusal);
  });
  // While the server stops, close each connection after the response to the last request on it, so that the client
  // reconnects to another process. Fastify would close it after the first one.
  app.addHook("onSend", ({ raw }, reply, payload, next) => {
    const header = connections.headerFor(raw);
    if (header) void reply.header("connection", header);
    next(null, payload);
  });
  app.setNotFoundHandler((request, reply) => {
    const allowed = methodsOf(app, request.url);
    if (allowed.length === 0) return sendRefusal(reply, refuse("route_not_found"));
    return sendRefusal(reply.header("allow", allowed.join(", ")), refuse("method_not_allowed"));
  });
  return { app, connections };
}

function checkHeaders(raw: readonly string[], url: string, most: number): Refusal | undefined {
  if (raw.length > 2 * most)
    return refuse("headers_too_large", { message: `A request can have up to ${most} headers.` });
  let seen = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    const bit = ONCE.get(name) ?? 0;
    if ((seen & bit) !== 0)
      return name === headers.idempotencyKey
        ? refuse("invalid_idempotency_key")
        : refuse("duplicate_header", { param: name });
    seen |= bit;
  }
  const search = searchOf(url);
  return search !== "" && hasToken(search) ? refuse("token_in_query") : undefined;
}

/** Parsing and judging a body of this size takes long enough to delay other tenants. */
const LARGE_BODY = 128 * 1_024;
/**
 * Such a body takes about a millisecond to parse. If hundreds arrive together, they are parsed one per tick of the
 * event loop.
 */
const SMALL_BODY = 8 * 1_024;

function takeOnlyJson(app: FastifyInstance, largeBodies: Limiter): void {
  app.removeAllContentTypeParsers();
  app.decorateRequest("response");
  const oneAtATime = createLimiter({ most: 1 });
  // Registered under its exact name too: Fastify looks up the catch-all parser anew for every request.
  app.addContentTypeParser(["application/json", "*"], { parseAs: "buffer" }, (request, body, done) => {
    const bytes = body as Buffer;
    request.bodyBytes = bytes.length;
    // An optional body was omitted.
    if (bytes.length === 0) return done(null, undefined);
    if (!isJsonType(request.headers["content-type"]) || request.headers["content-encoding"] !== undefined)
      return done(new Refused(refuse("unsupported_media_type")), undefined);
    const parse = () => {
      const parsed = parseJson(bytes);
      if (isRefusal(parsed)) done(new Refused(parsed), undefined);
      else done(null, parsed.value);
    };
    if (bytes.length <= SMALL_BODY) return parse();
    const { tenant, token } = callerOf(request);
    const parseInTurn = async () => {
      await oneAtATime.enter(tenant, token);
      parse();
      // Free the slot after the other events of this tick, so that bodies of the same tick are spread over several
      // ticks.
      setImmediate(() => oneAtATime.leave(tenant));
    };
    if (bytes.length <= LARGE_BODY) void parseInTurn();
    else void enterUntilAnswered(largeBodies, request).then(parseInTurn);
  });
}

const callerOf = ({ principal }: FastifyRequest) => ({
  tenant: principal?.tenant ?? 0,
  token: principal?.tokenId ?? "",
});

/** The request keeps its slot until the response is sent or the client disconnects. */
async function enterUntilAnswered(limiter: Limiter, request: FastifyRequest): Promise<void> {
  const { response } = request;
  const { tenant, token } = callerOf(request);
  await limiter.enter(tenant, token);
  if (response) whenEnded(response, () => limiter.leave(tenant));
  else limiter.leave(tenant);
}

/** Carries a refusal through Fastify's body parser to the error handler. */
class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

const FRAMEWORK: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: "request_too_large",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media_type",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "invalid_body",
  FST_ERR_CTP_EMPTY_JSON_BODY: "invalid_json",
  FST_ERR_CTP_INVALID_JSON_BODY: "invalid_json",
};

/** What a request is answered with whose handler failed. */
export function refusalOf(error: FastifyError | Refused, log: FastifyBaseLogger): Refusal {
  if (error instanceof Refused) return error.refusal;
  const known = FRAMEWORK[error.code];
  if (known) return refuse(known);
  if (error instanceof UnreadableTable) return refuse("source_changed", { param: "model", message: error.message });
  const code = failureCode(error);
  if (code) {
    log.warn({ event: "database_failed", err: error }, "A request failed because the database failed.");
    return refuse(code);
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
    return refuse("invalid_body", { status: 400 });
  log.error({ event: "bug", err: error }, "A request failed because of a bug.");
  return refuse("internal_error");
}

/** The methods that a path supports. Empty for an unknown path. */
function methodsOf(app: FastifyInstance, url: string): string[] {
  const path = url.split("?")[0] ?? "";
  return [...new Set(app.routeTable.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))].sort();
}

declare module "fastify" {
  interface FastifyInstance {
    /** All routes, to distinguish a wrong method from a wrong path. */
    routeTable: { method: string; pattern: RegExp }[];
  }
}
