import { type Answer, cutOff, tooLarge } from "./answer.ts";
import { joined, type RawBody } from "./raw-body.ts";
import type { Arrived } from "./receive.ts";
import { WebhookVerificationError } from "./verification-error.ts";

/** A fetch `Request`, as used by Workers, Deno, Bun and route handlers of frameworks. */
export const arrivedByFetch = (request: Request, limit: number): Arrived => ({
  method: request.method,
  headers: request.headers,
  readBody: () => readBody(request, limit),
});

export const asResponse = ({ status, headers, body }: Answer): Response =>
  Response.json(body, { status, ...(headers && { headers }) });

async function readBody(request: Request, limit: number): Promise<RawBody | Answer> {
  if (request.bodyUsed)
    throw new WebhookVerificationError(
      "body_not_raw",
      "The request's body was already read. Pass the handler the request itself, or a clone made before reading.",
    );
  if (Number(request.headers.get("content-length")) > limit) return tooLarge(limit);
  if (!request.body) return "";
  const reader = request.body.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      length += part.value.length;
      if (length > limit) {
        reader.cancel().catch(() => {});
        return tooLarge(limit);
      }
      parts.push(part.value);
    }
  } catch {
    // The sender has disconnected, so the answer may reach no one.
    return cutOff;
  }
  return joined(parts);
}
