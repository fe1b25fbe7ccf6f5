import { gzip, gzipSync } from "node:zlib";
import type { EndpointName } from "@holdfast/sdk/protocol";
import type { FastifyReply, FastifyRequest, onSendHookHandler } from "fastify";
import { acceptsGzip } from "./accepts-gzip.ts";

/** What may be large: pages. A receipt is small, and its writer waits for it, so it is never compressed. */
const PAGES: ReadonlySet<EndpointName> = new Set<EndpointName>([
  "readSnapshot",
  "readLog",
  "readHistory",
  "listRecords",
  "listClaims",
  "listOwnClaims",
  "listWebhookAttempts",
]);

const LEAST_BYTES = 1_024;
/** Beyond this a thread does it: a page of 4 MiB would hold up all others for 40 ms. */
const AT_ONCE_BYTES = 32 * 1_024;
/** The fastest level: a page is compressed once and read once. */
const options = { level: 1 };

/** The hook that compresses the answers of an endpoint; undefined: it has none. */
export const compressionOf = (name: EndpointName): onSendHookHandler<unknown> | undefined =>
  PAGES.has(name) ? compress : undefined;

// A callback, not a promise, as all hooks here.
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
