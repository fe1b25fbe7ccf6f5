import type { Duplex } from "node:stream";
import cors from "@fastify/cors";
import { type ErrorCode, headers, limits, type ServerLimits } from "@holdfast/sdk/protocol";
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from "fastify";
import { hasToken, searchOf } from "../addresses/request-url.ts";
import type { DocUrl } from "../envelope/envelope.ts";
import { failureCode } from "../flows/failure.ts";
import { newId } from "../ids.ts";
import { createLimiter, type Limiter } from "../limits/limiter.ts";
import { isJsonType, parseJson } from "../payload/parse-json.ts";
import { isRefusal, type Refusal, refuse } from "../rules/refusal.ts";
import { brokenRequests } from "./broken-requests.ts";
import type { Counters } from "./counters.ts";
import { drain } from "./drain.ts";
import { sendRefusal } from "./mount.ts";

export interface EdgeOptions {
  readonly logger: FastifyBaseLogger;
  isOriginAllowed(origin: string): boolean;
  readonly stopping: AbortSignal;
  readonly docUrl: DocUrl;
  readonly limits: ServerLimits;
  readonly counters: Counters;
  /** Whose large body is taken next. */
  readonly largeBodies: Limiter;
}

/** Headers that may come once, each with a bit of its own. */
const ONCE = new Map(
  ["authorization", "idempotency-key", "content-type", "content-length", "host"].map((name, i) => [name, 1 << i]),
);

/** The HTTP server before it has routes: limits, JSON bodies, CORS, and one envelope for whatever goes wrong. */
export async function createEdge({
  logger,
  isOriginAllowed,
  stopping,
  docUrl,
  counters,
  largeBodies,
  limits: { headerBytes, headerCount, headersMs, requestMs },
}: EdgeOptions): Promise<FastifyInstance> {
  const broken = brokenRequests(docUrl);
  const app = fastify({
    loggerInstance: logger,
    // Nothing is logged by request: a logger for each would be made for nobody.
    childLoggerFactory: (parent) => parent,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => newId("req_"),
    requestIdHeader: false,
    routerOptions: { maxParamLength: 512 },
    bodyLimit: limits.batchBodyBytes,
    requestTimeout: requestMs,
    return503OnClosing: false,
    forceCloseConnections: "idle",
    // Node looks for headers that take too long only every so often: both together are the limit.
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
  // Node would drop headers beyond its count in silence; all are taken, and counted below.
  app.server.maxHeadersCount = 0;
  // An expectation that it does not know Node would answer itself, with 417 and no envelope.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  broken.watch(app.server);
  letGoWhenStopping(app, stopping);
  app.decorate("stopping", stopping);
  app.decorate("docUrl", docUrl);
  app.decorate("counters", counters);
  app.decorate("routeTable", []);
  app.addHook("onRoute", ({ method, path }) => {
    if (path.includes("*")) return;
    const pattern = new RegExp(`^${path.replace(/:[^/]+/g, "[^/]+")}$`);
    for (const one of [method].flat()) app.routeTable.push({ method: one, pattern });
  });
  // Callbacks, not promises: this runs for every request.
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
  // A preflight that gets no permission is answered all the same: it is the browser that then refuses.
  app.addHook("onRequest", (request, reply, next) => {
    if (request.method === "OPTIONS") void reply.code(204).send();
    else next();
  });
  takeOnlyJson(app, largeBodies);
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    const refusal = refusalOf(error, app.log);
    // Who is still sending reads no answer.
    if (refusal.code === "request_too_large" && !(await drain(request.raw))) void reply.header("connection", "close");
    return sendRefusal(reply, refusal);
  });
  // Whoever is answered while the server stops asks elsewhere next.
  app.addHook("onSend", (_request, reply, payload, next) => {
    if (stopping.aborted) void reply.header("connection", "close");
    next(null, payload);
  });
  app.setNotFoundHandler((request, reply) => {
    const allowed = methodsOf(app, request.url);
    if (allowed.length === 0) return sendRefusal(reply, refuse("route_not_found"));
    return sendRefusal(reply.header("allow", allowed.join(", ")), refuse("method_not_allowed"));
  });
  return app;
}

/**
 * Two kinds of connection would hold up the stop. One that has asked nothing yet (browsers open some in advance) is
 * not idle to Node. And one whose last answer is given only now is kept for a next request.
 */
function letGoWhenStopping({ server }: FastifyInstance, stopping: AbortSignal): void {
  const mute = new Set<Duplex>();
  server.on("connection", (socket) => {
    mute.add(socket);
    socket.once("close", () => mute.delete(socket));
  });
  server.on("request", ({ socket }) => mute.delete(socket));
  server.on("upgrade", (_request, socket) => mute.delete(socket));
  stopping.addEventListener("abort", () => {
    for (const socket of mute) socket.destroy();
    const sweep = setInterval(() => server.closeIdleConnections(), 50).unref();
    server.once("close", () => clearInterval(sweep));
  });
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

/** To read and judge a body of that size takes so long that other tenants would notice. */
const LARGE_BODY = 128 * 1_024;
/** A body of that size is read in a millisecond; hundreds that came together are read one in each turn of the event loop. */
const SMALL_BODY = 8 * 1_024;

function takeOnlyJson(app: FastifyInstance, largeBodies: Limiter): void {
  app.removeAllContentTypeParsers();
  app.decorateRequest("response");
  const oneAtATime = createLimiter({ most: 1, mostOfTenant: 1 });
  // By its name as well: what is taken for "anything" is looked for anew with every request.
  app.addContentTypeParser(["application/json", "*"], { parseAs: "buffer" }, (request, body, done) => {
    const bytes = body as Buffer;
    request.bodyBytes = bytes.length;
    // A body that may be left out, was left out.
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
      const leave = await oneAtATime.enter(tenant, token);
      parse();
      // Those that came in the same turn of the event loop have theirs when all else of this one is done.
      setImmediate(leave);
    };
    if (bytes.length <= LARGE_BODY) void parseInTurn();
    else void turnOf(largeBodies, request).then(parseInTurn);
  });
}

const callerOf = ({ principal }: FastifyRequest) => ({
  tenant: principal?.tenant ?? 0,
  token: principal?.tokenId ?? "",
});

/** Until it is answered, or its caller hangs up, the turn is the request's. */
async function turnOf(turns: Limiter, request: FastifyRequest): Promise<void> {
  const { response } = request;
  const { tenant, token } = callerOf(request);
  const leave = await turns.enter(tenant, token);
  if (!response || response.closed || response.destroyed) leave();
  else response.once("close", leave);
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

function refusalOf(error: FastifyError | Refused, log: FastifyBaseLogger): Refusal {
  if (error instanceof Refused) return error.refusal;
  const known = FRAMEWORK[error.code];
  if (known) return refuse(known);
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

/** The methods that a path answers to, when it is one of ours at all. */
function methodsOf(app: FastifyInstance, url: string): string[] {
  const path = url.split("?")[0] ?? "";
  return [...new Set(app.routeTable.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))].sort();
}

declare module "fastify" {
  interface FastifyInstance {
    /** Every route that was added, to tell a wrong method from a wrong path. */
    routeTable: { method: string; pattern: RegExp }[];
  }
}
