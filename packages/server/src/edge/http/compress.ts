import { gzip, gzipSync } from "node:zlib";
import type { EndpointName } from "@holdfast/sdk/protocol";
import type { FastifyReply, FastifyRequest, onSendHookHandler } from "fastify";
import { acceptsGzip } from "./accepts-gzip.ts";

/** Pages may be large. A receipt is small and its writer waits for it, so receipts are never compressed. */
const PAGES: ReadonlySet<EndpointName> = new Set<EndpointName>([
  "readSnapshot",
  "readLog",
  "readHistory",
  "listRecords",
  "queryRecords",
  "listClaims",
  "listOwnClaims",
  "listWebhookAttempts",
]);

const LEAST_BYTES = 1_024;
/** Larger bodies are compressed in a thread: a page of 4 MiB would block the event loop for 40 ms. */
const AT_ONCE_BYTES = 32 * 1_024;
/** The fastest level: each page is compressed and read only once. */
const options = { level: 1 };

/** The compression hook of an endpoint. Undefined if its responses are not compressed. */
export const compressionOf = (name: EndpointName): onSendHookHandler<unknown> | undefined =>
  PAGES.has(name) ? compress : undefined;

// Uses a callback instead of a promise, like all hooks here.
function compress(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload?: unknown) => void,
): void {
  const vary = reply.getHeader("vary");
  void reply.header("vary", vary === undefined ? "Accept-Encoding" : `${vary}, Accept-Encoding`);
  const accepted = request.headers["accept-encoding"];
  if (typeof payload !== "string" || payload.length < LEAST_BYTES || !acceptsGzip(String(accepted ?? "")))
    return done(null, payload);
  void reply.header("content-encoding", "gzip").removeHeader("content-length");
  if (payload.length <= AT_ONCE_BYTES) return done(null, gzipSync(payload, options));
  gzip(payload, options, done);
}
