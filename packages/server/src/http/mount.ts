import type { ServerResponse } from "node:http";
import { type EndpointName, type EndpointSchema, endpoints, headers, limits, paths } from "@holdfast/sdk/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { PREFIXES, searchOf } from "../addresses/request-url.ts";
import { type DocUrl, envelopeText, refusalHeaders, statusOf } from "../envelope/envelope.ts";
import type { ClientSchemas } from "../flows/schema/client-schemas.ts";
import { shapeCheck } from "../payload/shape-check.ts";
import { isRefusal, type Refusal, refuse } from "../rules/refusal.ts";
import type { Principal } from "../rules/tokens/participant.ts";
import type { ApiRequest, ApiResponse, Handler, Handlers, QueryTable } from "./answer.ts";
import { answerInNames, isSpoken, readSaidHeader } from "./answer-names.ts";
import type { AuthHook } from "./auth-hook.ts";
import { compressionOf } from "./compress.ts";
import { answerOf } from "./count-answers.ts";
import { isRead } from "./count-reads.ts";
import { type Counters, countRefusal } from "./counters.ts";
import { translateCommit, translateWrite, withoutNulls } from "./dialect.ts";
import { readQuery } from "./query.ts";
import { whenEnded } from "./when-ended.ts";

/** Builds the routes from three tables (paths, endpoints, handlers): authentication, query, body shape, response. */
export function mount(
  app: FastifyInstance,
  handlers: Handlers,
  authHook: AuthHook,
  schemasOf: (tenant: Principal) => ClientSchemas | Promise<ClientSchemas>,
): void {
  app.decorateRequest("principal");
  app.decorateRequest("cameAt", 0);
  app.decorateRequest("bodyBytes", 0);
  for (const name of Object.keys(paths) as EndpointName[])
    mountOne(app, name, inNames(name, handlers[name] as Handler<never>, schemasOf), authHook);
}

/** For endpoints that name fields: answers under the names of the schema that the client has. */
function inNames(
  name: EndpointName,
  handler: Handler<never>,
  schemasOf: (tenant: Principal) => ClientSchemas | Promise<ClientSchemas>,
): Handler<never> {
  if (!isSpoken(name)) return handler;
  return async (asked) => {
    if (asked.schemaHeader === undefined) return await handler(asked);
    const said = readSaidHeader(asked.schemaHeader);
    if (isRefusal(said)) return { refusal: said };
    return (await answerInNames(name, handler, asked, await schemasOf(asked.principal), said)) as ApiResponse<never>;
  };
}

function mountOne(app: FastifyInstance, name: EndpointName, handler: Handler<never>, authHook: AuthHook): void {
  const [method, path] = paths[name];
  const endpoint: EndpointSchema = endpoints[name];
  const readBody = bodyReader(name, endpoint);
  const compression = compressionOf(name);
  for (const prefix of PREFIXES)
    app.route({
      method,
      url: prefix + path,
      bodyLimit: endpoint.batchBody ? limits.batchBodyBytes : limits.bodyBytes,
      ...(compression && { onSend: compression }),
      // Authenticate before reading the body, so that only valid tokens can send one.
      onRequest: (request, reply, next) => {
        request.cameAt = performance.now();
        request.response = reply.raw;
        request.readsOnly = isRead(name);
        const goOn = (refusal: Refusal | undefined) => void (refusal ? sendRefusal(reply, refusal) : next());
        // Continue in a later microtask: the bytes that follow in the same packet may be invalid HTTP, which has to be
        // reported first.
        Promise.resolve(authHook.enter(request, reply, endpoint))
          .then(goOn)
          .catch(next);
      },
      handler: async (request, reply) => {
        // If the request has waited long for its slot or its body, check whether the token has ended.
        const ended = performance.now() - request.cameAt > LATE_MS ? await authHook.recheck(request) : undefined;
        if (ended) return sendRefusal(reply, ended);
        const answer = request.principal && answerOf(request, reply);
        if (answer?.hasRoom() === false) return sendRefusal(reply, refuse("too_many_answers"));
        const query = readQuery(searchOf(request.url), endpoint.query as QueryTable | undefined, endpoint.filters);
        if (isRefusal(query)) return sendRefusal(reply, query);
        const body = readBody(request.body);
        if ("refusal" in body) return sendRefusal(reply, body.refusal);
        const asked = {
          principal: request.principal,
          params: request.params,
          query,
          body: body.value,
          bodyBytes: request.bodyBytes,
          answer,
          keyHeader: request.headers[headers.idempotencyKey] as string | undefined,
          schemaHeader: request.headers[headers.schema],
          signal: () => goneSignal(request, reply),
          recheck: () => authHook.recheck(request),
        };
        return send(reply, await handler(asked as unknown as ApiRequest<never>));
      },
    });
}

const LATE_MS = 1_000;

const TRANSLATED: ReadonlySet<EndpointName> = new Set<EndpointName>([
  "createRecord",
  "updateRecord",
  "deleteRecord",
  "archiveRecord",
  "unarchiveRecord",
]);

function bodyReader(
  name: EndpointName,
  endpoint: EndpointSchema,
): (body: unknown) => { value: unknown } | { refusal: Refusal } {
  const { body: schema } = endpoint;
  if (!schema) return (raw) => (isEmpty(raw) ? { value: undefined } : { refusal: strange(raw) });
  const check = endpoint.bodyJudged ? () => undefined : shapeCheck(schema);
  const translate = translatorOf(name);
  return (raw) => {
    if (raw === undefined)
      return endpoint.bodyOptional
        ? { value: undefined }
        : { refusal: refuse("invalid_body", { message: "This route needs a JSON body." }) };
    const value = translate(raw);
    const refusal = check(value);
    return refusal ? { refusal } : { value };
  };
}

/** For endpoints without a body: accept none, or an empty one. */
const isEmpty = (raw: unknown): boolean =>
  raw === undefined ||
  (typeof raw === "object" && raw !== null && !Array.isArray(raw) && Object.keys(raw).length === 0);

function strange(raw: unknown): Refusal {
  const [name] = typeof raw === "object" && raw !== null && !Array.isArray(raw) ? Object.keys(raw) : [];
  return name === undefined
    ? refuse("invalid_body", { message: "This route does not accept a body." })
    : refuse("unknown_field", { param: name, message: "This route does not accept a body." });
}

function translatorOf(name: EndpointName): (body: unknown) => unknown {
  if (name === "commit") return translateCommit;
  if (TRANSLATED.has(name)) return translateWrite;
  return NULLABLE.has(name) ? withoutNulls : (body) => body;
}

/** Endpoints in whose bodies null means absent. */
const NULLABLE: ReadonlySet<EndpointName> = new Set<EndpointName>([
  "acquireClaim",
  "acquireClaimOn",
  "renewClaim",
  "createWebhookEndpoint",
]);

function send(reply: FastifyReply, answer: ApiResponse<EndpointName>): FastifyReply {
  if ("refusal" in answer) return sendRefusal(reply, answer.refusal, answer.receipt);
  if ("value" in answer)
    return reply
      .code(answer.status ?? 200)
      .type(JSON_TYPE)
      .send(JSON.stringify(answer.value));
  return reply
    .code(answer.status ?? 200)
    .headers(answer.headers ?? {})
    .type(answer.contentType ?? JSON_TYPE)
    .send(answer.text);
}

const JSON_TYPE = "application/json; charset=utf-8";

export function sendRefusal(reply: FastifyReply, refusal: Refusal, receipt?: string): FastifyReply {
  countRefusal(reply.server.counters, refusal.code);
  return reply
    .code(statusOf(refusal))
    .headers(refusalHeaders(refusal))
    .type(JSON_TYPE)
    .send(envelopeText(refusal, reply.request.id, reply.server.docUrl, receipt));
}

/** Fires when the client disconnects or the server stops. */
function goneSignal(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  whenEnded(reply.raw, () => gone.abort());
  return AbortSignal.any([gone.signal, request.server.stopping]);
}

declare module "fastify" {
  interface FastifyRequest {
    /** The authenticated caller. Undefined for the operator, and before authentication. */
    principal: Principal | undefined;
    /** When the request's headers had arrived (ms, monotonic). */
    cameAt: number;
    bodyBytes: number;
    /** The response to this request. Undefined if no route matched. */
    response: ServerResponse | undefined;
  }
  interface FastifyInstance {
    /** Fires when the server begins to stop. */
    stopping: AbortSignal;
    docUrl: DocUrl;
    counters: Counters;
  }
}
