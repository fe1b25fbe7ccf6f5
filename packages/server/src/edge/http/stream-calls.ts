import {
  type EndpointName,
  type EndpointSchema,
  endpoints,
  paths,
  STREAM_CALLS,
  type StreamCall,
} from "@holdfast/sdk/protocol";
import { newId } from "../../ids.ts";
import type { Answer, AnswerBytes } from "../../kernel/limits/answer-bytes.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";
import type { CallAnswer, StreamAnswers } from "../../kernel/stream-answers.ts";
import type { Authenticator } from "../../kernel/tokens/flows/authenticate.ts";
import type { Principal } from "../../kernel/tokens/rules/participant.ts";
import { prefixOf } from "../../kernel/tokens/rules/token.ts";
import { type DocUrl, envelopeText, refusalHeaders, statusOf } from "../envelope/envelope.ts";
import type { ApiResponse } from "./answer.ts";
import { isLongPoll } from "./auth-hook.ts";
import { isRead } from "./count-reads.ts";
import { type Counters, countRefusal } from "./counters.ts";
import type { EndpointCalls } from "./endpoint-call.ts";
import type { Traffic } from "./traffic.ts";

export interface StreamCallDeps {
  readonly calls: EndpointCalls;
  readonly authenticator: Authenticator;
  readonly traffic: Traffic;
  readonly counters: Counters;
  readonly answers: AnswerBytes;
  readonly docUrl: DocUrl;
  readonly stopping: AbortSignal;
  /** What a failed handler is answered with. */
  readonly failed: (error: unknown) => Refusal;
}

/** Answers requests on a stream as the routes do: with the same checks, limits, counters and handlers. */
export function streamCalls(deps: StreamCallDeps): StreamAnswers {
  const { calls, authenticator, traffic, counters, answers, stopping, failed } = deps;
  const answer: StreamAnswers["answer"] = async ({ name, token, bytes, schema, signal, ...asked }) => {
    const { params = {}, query: search = "", body } = asked;
    counters.requests += 1;
    const ends: (() => void)[] = [];
    const end = () => {
      for (const then of ends.splice(0)) then();
    };
    signal.addEventListener("abort", end, { once: true });
    const sent = () => {
      signal.removeEventListener("abort", end);
      end();
    };
    const refused = (refusal: Refusal) => ({ ...refusedWith(deps, refusal), sent });

    try {
      if (stopping.aborted) return refused(refuse("unavailable", { message: "The server is stopping." }));
      if (!isStreamCall(name)) return refused(refuse("route_not_found", NOT_HERE));
      const strange = checkParams(name, params);
      if (strange) return refused(strange);
      const principal = await authenticator.principalOf(token);
      if (isRefusal(principal)) return refused(principal);
      const arrival = {
        ...{ tokenId: principal.tokenId, prefix: prefixOf(token), longPoll: isLongPoll(queryOf(name), search) },
        whenEnded: (then: () => void) => (signal.aborted ? then() : void ends.push(then)),
      };
      const busy = await traffic(arrival);
      if (busy) return refused(busy);
      const counting = answers.open(principal.tokenId);
      arrival.whenEnded(counting.close);
      const response = await calls[name]({
        ...{ principal, params, search, body, bodyBytes: bytes, answer: counting },
        ...{ keyHeader: undefined, schemaHeader: schema },
        signal: () => AbortSignal.any([signal, stopping]),
        recheck: async () => asRefusal(await authenticator.principalOf(token)),
      });
      return { ...counted(deps, name, counting, response), sent };
    } catch (error) {
      return refused(failed(error));
    }
  };
  const refusedAtOnce: StreamAnswers["refuse"] = (refusal) => {
    counters.requests += 1;
    return refusedWith(deps, refusal);
  };
  return { answer, refuse: refusedAtOnce };
}

/** The parts of the path: those that there are, and none of them empty. */
function checkParams(name: StreamCall, params: Readonly<Record<string, string>>): Refusal | undefined {
  const wanted = [...paths[name][1].matchAll(/:(\w+)/g)].map(([, one]) => one as string);
  const missing = wanted.find((one) => !Object.hasOwn(params, one) || params[one] === "");
  if (missing !== undefined) return refuse("missing_field", { param: `params.${missing}` });
  const strange = Object.keys(params).find((one) => !wanted.includes(one));
  return strange === undefined ? undefined : refuse("unknown_field", { param: `params.${strange}` });
}

const NOT_HERE = { message: `A stream can call only ${STREAM_CALLS.join(", ")}.` };

const isStreamCall = (name: string): name is StreamCall => (STREAM_CALLS as readonly string[]).includes(name);

const queryOf = (name: StreamCall): EndpointSchema["query"] => (endpoints[name] as EndpointSchema).query;

const asRefusal = (found: Principal | Refusal): Refusal | undefined => (isRefusal(found) ? found : undefined);

type Answered = Omit<CallAnswer, "sent">;

function refusedWith({ counters, docUrl }: StreamCallDeps, refusal: Refusal, receipt?: string): Answered {
  countRefusal(counters, refusal.code);
  return {
    status: statusOf(refusal),
    headers: refusalHeaders(refusal),
    body: envelopeText(refusal, newId("req_"), docUrl, receipt),
  };
}

function counted(
  deps: StreamCallDeps,
  name: EndpointName,
  answer: Answer,
  response: ApiResponse<EndpointName>,
): Answered {
  const answered = textOf(deps, response);
  const bytes = Buffer.byteLength(answered.body);
  if (!isRead(name)) answer.send(bytes);
  else if (!answer.trySend(bytes)) return refusedWith(deps, refuse("too_many_answers"));
  return answered;
}

function textOf(deps: StreamCallDeps, response: ApiResponse<EndpointName>): Answered {
  if ("refusal" in response) return refusedWith(deps, response.refusal, response.receipt);
  const { status = 200 } = response;
  if ("value" in response) return { status, body: JSON.stringify(response.value) };
  return { status, headers: response.headers, body: response.text as string };
}
