import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Answer, AnswerBytes } from "../../kernel/limits/answer-bytes.ts";
import { refuse } from "../../kernel/refusal.ts";
import { envelopeText, refusalHeaders, statusOf } from "../envelope/envelope.ts";
import { countRefusal } from "./counters.ts";
import { whenEnded } from "./when-ended.ts";

/** Headers of a page that do not belong to the refusal in its place. */
const OF_PAGES = ["etag", "cache-control"];

/**
 * Counts the bytes of every answer to a token until they have left the process. A read whose answer has no room is
 * refused. The outcome of a write is always sent: writes are refused before they are tried.
 */
export function countAnswers(app: FastifyInstance, answers: AnswerBytes): void {
  app.decorate("answers", answers);
  app.decorateRequest("answer");
  app.decorateRequest("readsOnly", false);
  app.addHook("onSend", (request, reply, payload, next) => {
    const bytes = typeof payload === "string" || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0;
    if (!request.principal || bytes === 0 || request.method === "HEAD") return next(null, payload);
    const answer = answerOf(request, reply);
    if (request.method !== "GET" && !request.readsOnly) answer.send(bytes);
    else if (!answer.trySend(bytes)) {
      const refusal = refuse("too_many_answers");
      countRefusal(app.counters, refusal.code);
      for (const name of OF_PAGES) void reply.removeHeader(name);
      void reply.code(statusOf(refusal)).headers(refusalHeaders(refusal)).type("application/json; charset=utf-8");
      return next(null, envelopeText(refusal, request.id, app.docUrl));
    }
    next(null, payload);
  });
}

/** The answer of a request with a token. */
export function answerOf(request: FastifyRequest, { raw, server }: FastifyReply): Answer {
  if (request.answer) return request.answer;
  const answer = server.answers.open(request.principal?.tokenId ?? "");
  request.answer = answer;
  whenEnded(raw, answer.close);
  return answer;
}

declare module "fastify" {
  interface FastifyInstance {
    answers: AnswerBytes;
  }
  interface FastifyRequest {
    /** Undefined until something needs it. */
    answer: Answer | undefined;
    /** It changes nothing, whatever its method, so its answer may be refused when it is there. */
    readsOnly: boolean;
  }
}
