import type { ServerResponse } from "node:http";
import { type EndpointName, type EndpointSchema, endpoints, headers, limits, paths } from "@holdfast/sdk/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Refusal } from "../../kernel/refusal.ts";
import type { Principal } from "../../kernel/tokens/rules/participant.ts";
import { PREFIXES, searchOf } from "../addresses/request-url.ts";
import { type DocUrl, envelopeText, refusalHeaders, statusOf } from "../envelope/envelope.ts";
import type { ApiResponse } from "./answer.ts";
import { attributionHeaders } from "./attribution.ts";
import type { AuthHook } from "./auth-hook.ts";
import { compressionOf } from "./compress.ts";
import { answerOf } from "./count-answers.ts";
import { isRead } from "./count-reads.ts";
import { type Counters, countRefusal } from "./counters.ts";
import type { EndpointCall, EndpointCalls } from "./endpoint-call.ts";
import { whenEnded } from "./when-ended.ts";

/** Builds the routes from three tables (paths, endpoints, handlers): authentication, query, body shape, response. */
export function mount(app: FastifyInstance, calls: EndpointCalls, authHook: AuthHook): void {
  app.decorateRequest("principal");
  app.decorateRequest("cameAt", 0);
  app.decorateRequest("bodyBytes", 0);
  for (const name of Object.keys(paths) as EndpointName[]) mountOne(app, name, calls[name], authHook);
}

function mountOne(app: FastifyInstance, name: EndpointName, call: EndpointCall, authHook: AuthHook): void {
  const [method, path] = paths[name];
  const endpoint: EndpointSchema = endpoints[name];
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
        const answer = await call({
          principal: request.principal,
          params: request.params as Readonly<Record<string, string>>,
          search: searchOf(request.url),
          body: request.body,
          bodyBytes: request.bodyBytes,
          answer: request.principal && answerOf(request, reply),
          keyHeader: request.headers[headers.idempotencyKey] as string | undefined,
          attribution: attributionHeaders(request.headers),
          schemaHeader: request.headers[headers.schema],
          signal: () => goneSignal(request, reply),
          recheck: () => authHook.recheck(request),
        });
        return send(reply, answer);
      },
    });
}

/** After so long, a token may have ended since the request arrived. */
export const LATE_MS = 1_000;

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
