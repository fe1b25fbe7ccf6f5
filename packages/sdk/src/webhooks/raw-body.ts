import { WebhookVerificationError } from "./verification-error.ts";

/** A body as received, not parsed and serialized again. */
export type RawBody = string | ArrayBuffer | ArrayBufferView;

const encoder = new TextEncoder();

export const isRawBody = (body: unknown): body is RawBody =>
  typeof body === "string" || body instanceof ArrayBuffer || ArrayBuffer.isView(body);

/** Its bytes, without a copy if they are bytes already. */
export function bytesOf(body: RawBody): Uint8Array {
  if (typeof body === "string") return encoder.encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  throw new WebhookVerificationError(
    "body_not_raw",
    "The body must be a string or bytes, because the signature covers the raw body. Verify it before it is parsed.",
  );
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
