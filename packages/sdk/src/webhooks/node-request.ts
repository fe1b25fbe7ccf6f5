import { type Answer, cutOff, tooLarge } from "./answer.ts";
import { bytesOf, isRawBody, joined, type RawBody } from "./raw-body.ts";
import type { Arrived } from "./receive.ts";
import { WebhookVerificationError } from "./verification-error.ts";

/** As much of Node's `IncomingMessage` as is needed, so that this also compiles where Node is unknown. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Whether somebody read from it before. */
  readonly readableDidRead?: boolean;
  /** What a framework made of the body. */
  readonly body?: unknown;
  /** Where some frameworks keep it as it came. */
  readonly rawBody?: unknown;
  readonly destroyed?: boolean;
  on(event: "data", listener: (part: RawBody) => void): unknown;
  on(event: "end" | "error" | "close", listener: () => void): unknown;
  resume(): unknown;
}

/** As much of Node's `ServerResponse` as is needed. */
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
  // Somebody else has answered meanwhile, a framework's own time-out for instance.
  if (response.headersSent) return;
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json",
    "content-length": bytesOf(text).length,
  });
  response.end(text);
  // What was not read is let go by, so that the answer is not lost in a connection that was broken off.
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
  // Removed before anybody listened: nothing would be heard of it any more.
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
    // Both also come after the end, and change nothing then.
    request.on("error", () => resolve(cutOff));
    request.on("close", () => resolve(cutOff));
    // Somebody may have paused it meanwhile.
    request.resume();
  });
}
