import { Agent, request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest, Agent as TlsAgent } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { isObject } from "../assertions/pattern.ts";
import { Unmet } from "../assertions/unmet.ts";
import type { Answer, Ask, Sent } from "../protocol/answers.ts";
import type { StreamRequests } from "./stream-requests.ts";

const TIMEOUT_MS = 40_000;
const LARGE = 512 * 1024;
/** All requests of an address without a valid token share a limit of 50 a second. */
const UNAUTHORIZED_PAUSE_MS = 45;

/** Sends requests to one server over HTTP, and checks in every answer what the interface promises for all of them. */
export function createAsk(
  url: string,
  defaultToken: string,
  onStream?: Pick<StreamRequests, "send">,
): { readonly ask: Ask; close(): void } {
  const { protocol, hostname, port, pathname } = new URL(url);
  const secure = protocol === "https:";
  const agent = new (secure ? TlsAgent : Agent)({ keepAlive: true, maxSockets: 256 });
  const send = secure ? httpsRequest : httpRequest;
  const base = pathname.replace(/\/$/, "");
  let nextUnauthorized: Promise<unknown> = Promise.resolve();

  const sendOnce: Ask = (method, path, { token = defaultToken, key, headers = {}, json, bytes } = {}) =>
    new Promise((resolve, reject) => {
      const payload = bytes ?? (json === undefined ? undefined : JSON.stringify(json));
      const chunked = headers["transfer-encoding"] !== undefined;
      const sent: Sent = {
        method,
        path,
        headers: {
          ...(token !== null && { authorization: `Bearer ${token}` }),
          ...(key !== undefined && { "idempotency-key": key }),
          ...(payload !== undefined && { "content-type": "application/json" }),
          ...(payload !== undefined && !chunked && { "content-length": String(Buffer.byteLength(payload)) }),
          ...withoutEmpty(headers),
        },
        body: payload === undefined ? undefined : payload.toString(),
      };
      if (headers["content-type"] === "") delete (sent.headers as Record<string, unknown>)["content-type"];
      const options: RequestOptions = {
        agent,
        hostname: hostname.replace(/^\[|\]$/g, ""),
        port,
        method,
        path: base + path,
        headers: sent.headers as Record<string, string | string[]>,
        timeout: TIMEOUT_MS,
      };
      const outgoing = send(options);
      // A server that refuses early may close the connection before it has read the whole body: its answer counts.
      let answered = false;
      outgoing.on("error", (error) => {
        if (!answered) reject(new Unmet("an answer", `${method} ${path.slice(0, 200)} failed: ${error.message}`));
      });
      outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer within ${TIMEOUT_MS / 1_000} s`)));
      outgoing.on("response", (response) => {
        answered = true;
        const chunks: Buffer[] = [];
        response.on("error", reject);
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          const { statusCode: status = 0, headers } = response;
          resolve({ request: sent, status, headers, text, body: parsed(text) });
        });
      });
      if (payload === undefined || payload.length < LARGE || chunked) return void outgoing.end(payload);
      // A server may refuse by content-length alone and close at once. Sending the body then would lose its answer.
      outgoing.flushHeaders();
      setTimeout(() => (answered ? outgoing.destroy() : outgoing.end(payload)), 50);
    });

  const ask: Ask = async (method, path, options = {}) => {
    if (options.token === null) {
      nextUnauthorized = nextUnauthorized.then(() => pause(UNAUTHORIZED_PAUSE_MS));
      await nextUnauthorized;
    }
    for (let tried = 1; ; tried++) {
      const answer = await (onStream?.send(method, path, options) ?? sendOnce(method, path, options));
      const fault = faultOf(answer);
      if (fault !== undefined) throw new Unmet(fault.expected, fault.got, answer);
      // Most cases do not test rate limits: they wait for Retry-After and send again.
      if (answer.status !== 429 || answer.body.code !== "rate_limited" || options.noRetry || tried === 8) return answer;
      await pause(1_000 * Math.max(1, Number(answer.headers["retry-after"] ?? 1)));
    }
  };
  return { ask, close: () => agent.destroy() };
}

const withoutEmpty = (headers: Readonly<Record<string, string | readonly string[]>>) =>
  Object.fromEntries(Object.entries(headers).filter(([name, value]) => !(name === "content-type" && value === "")));

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** What every answer must have: an x-request-id from the server, no status 500, and errors in the envelope. */
function faultOf({ request, status, headers, text, body }: Answer): { expected: string; got: string } | undefined {
  const id = headers["x-request-id"];
  if (typeof id !== "string" || !/^req_[0-9A-Za-z]{24}$/.test(id))
    return { expected: "an x-request-id header, req_ and 24 of 0-9A-Za-z", got: String(id) };
  if (status === 500) return { expected: "any status but 500", got: text.slice(0, 300) };
  if (status < 400 || request.method === "HEAD") return undefined;
  const { type, message, code, request_id } = body;
  if (![type, message, code].every((part) => typeof part === "string" && part !== ""))
    return { expected: "an error envelope with type, message and code", got: text.slice(0, 300) };
  if (/\n\s+at |node_modules|\.[jt]s:\d+/.test(String(message)))
    return { expected: "a message without a stack trace", got: String(message) };
  if (request_id !== id)
    return { expected: `request_id equal to the x-request-id header ${id}`, got: String(request_id) };
  return undefined;
}
