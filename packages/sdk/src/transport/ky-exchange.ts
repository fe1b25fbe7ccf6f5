import ky, { type BeforeRequestHook } from "ky";
import { headers } from "../protocol/headers.ts";
import type { Exchange } from "./exchange.ts";

/** Sends with ky: in browsers, and wherever an app provides its own `fetch`. */
export function kyExchange(fetch?: typeof globalThis.fetch): Exchange {
  const client = ky.create({
    // The core decides which requests to retry and which status is a failure.
    retry: 0,
    throwHttpErrors: false,
    // ky's timeout ends at the headers. The one in `http.ts` also covers the body.
    timeout: false,
    hooks: { beforeRequest: [setToken] },
    ...(fetch && { fetch }),
  });
  return async ({ method, url, token, schema, body, keepalive }, signal) => {
    const response = await client(url, {
      method,
      signal,
      keepalive,
      context: { token },
      headers: {
        ...(schema !== undefined && { [headers.schema]: schema }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body }),
    });
    return {
      status: response.status,
      retryAfter: response.headers.get(headers.retryAfter),
      body: chunksOf(response.body),
    };
  };
}

const setToken: BeforeRequestHook = (request, { context }) =>
  request.headers.set("authorization", `Bearer ${context.token}`);

/** Not every browser can iterate over a ReadableStream. */
async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (!body) return;
  const reader = body.getReader();
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value;
  } finally {
    // Also after an early end: otherwise the connection stays open for a body without a reader.
    await reader.cancel().catch(() => {});
  }
}
