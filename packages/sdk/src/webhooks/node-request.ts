import { type Answer, cutOff, tooLarge } from "./answer.ts";
import { bytesOf, isRawBody, joined, type RawBody } from "./raw-body.ts";
import type { Arrived } from "./receive.ts";
import { WebhookVerificationError } from "./verification-error.ts";

/** The needed part of Node's `IncomingMessage`, so that this compiles without Node's types. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Whether the body was read before. */
  readonly readableDidRead?: boolean;
  /** The body as parsed by a framework. */
  readonly body?: unknown;
  /** The raw body, as some frameworks keep it. */
  readonly rawBody?: unknown;
  readonly destroyed?: boolean;
  on(event: "data", listener: (part: RawBody) => void): unknown;
  on(event: "end" | "error" | "close", listener: () => void): unknown;
  resume(): unknown;
}

/** The needed part of Node's `ServerResponse`. */
export interface NodeResponse {
  readonly headersSent?: boolean;
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  end(body: string): unknown;
}

export const arrivedByNode = (request: NodeRequest, limit: number): Arrived => ({
  method: request.method,
  headers: request.headers,
  readBody: () => bodyOf(request, limit),
});

export function answerByNode(request: NodeRequest, response: NodeResponse, { status, headers, body }: Answer): void {
  // Another handler has answered already, for example a framework's timeout.
  if (response.headersSent) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json",
    "content-length": bytesOf(text).length,
  });
  response.end(text);
  // Drain the unread body, so that the answer is not lost with a broken connection.
  request.resume();
}

async function bodyOf(request: NodeRequest, limit: number): Promise<RawBody | Answer> {
  const kept = [request.rawBody, request.body].find(isRawBody);
  if (kept !== undefined) return bytesOf(kept).length > limit ? tooLarge(limit) : kept;
  if (request.readableDidRead)
    throw new WebhookVerificationError(
      "body_not_raw",
      "The body was already parsed, but the signature covers the raw bytes. Mount this handler before the JSON parser, or keep the bytes in request.rawBody.",
    );
  if (Number(request.headers["content-length"]) > limit) return tooLarge(limit);
  // The request was destroyed before this handler listened, so no event will fire.
  if (request.destroyed) return cutOff;
  return await readAll(request, limit);
}

function readAll(request: NodeRequest, limit: number): Promise<RawBody | Answer> {
  return new Promise((resolve) => {
    const parts: Uint8Array[] = [];
    let length = 0;
    request.on("data", (part) => {
      const bytes = bytesOf(part);
      length += bytes.length;
      if (length <= limit) parts.push(bytes);
      else {
        parts.length = 0;
        resolve(tooLarge(limit));
      }
    });
    request.on("end", () => resolve(joined(parts)));
    // Both events may also fire after `end`, where they have no effect.
    request.on("error", () => resolve(cutOff));
    request.on("close", () => resolve(cutOff));
    // The stream may have been paused before.
    request.resume();
  });
}
