import { webhookHeaders, webhookLimits } from "../protocol/webhooks/webhook-limits.ts";
import { bytesOf, type RawBody } from "./raw-body.ts";
import { isWebhookId, type ReceivedHeaders, readSignedHeaders } from "./received-headers.ts";
import { keysOf, type Secrets } from "./secret.ts";
import { WebhookVerificationError } from "./verification-error.ts";

// Standard Webhooks, symmetric: HMAC-SHA256 with the secret's bytes over `id.timestamp.body`, in base64 after "v1,".

export interface SignOptions {
  /** If there are several, each one signs, because the receiver may know any of them. */
  readonly secret: Secrets;
  /** The `webhook-id`, which stays the same when the same content is sent again. */
  readonly id: string;
  readonly body: RawBody;
  /** The time of sending, in milliseconds since 1970. Default: now. */
  readonly now?: number | undefined;
}

export type SignatureHeaders = Record<(typeof webhookHeaders)[keyof typeof webhookHeaders], string>;

/** The three headers of a delivery with this body. */
export async function signWebhook({ secret, id, body, now = Date.now() }: SignOptions): Promise<SignatureHeaders> {
  const timestamp = String(Math.floor(now / 1000));
  if (!isWebhookId(id)) throw new TypeError(`A webhook-id must not have spaces or periods: ${JSON.stringify(id)}.`);
  const signatures = await allSignatures(secret, id, timestamp, body);
  return {
    [webhookHeaders.id]: id,
    [webhookHeaders.timestamp]: timestamp,
    [webhookHeaders.signature]: signatures.join(" "),
  };
}

export interface CheckOptions {
  readonly secret: Secrets;
  readonly headers: ReceivedHeaders;
  readonly body: RawBody;
  /** How far the timestamp may differ from `now`, in either direction. Default: 5 minutes. */
  readonly toleranceMs?: number | undefined;
  /** The receiver's clock, in milliseconds since 1970. Default: now. */
  readonly now?: number | undefined;
}

/** Resolves with the `webhook-id` if one of the secrets signed exactly this body recently; rejects otherwise. */
export async function checkSignature(options: CheckOptions): Promise<string> {
  const { secret, headers, body, toleranceMs = webhookLimits.toleranceMs, now = Date.now() } = options;
  const { id, timestamp, signatures } = readSignedHeaders(headers);
  checkTime(Number(timestamp), Math.floor(now / 1000), toleranceMs / 1000);
  // One HMAC per secret, however many signatures the request contains.
  const expected = await allSignatures(secret, id, timestamp, body);
  const matches = expected.flatMap((one) => signatures.map((signature) => isSame(one, signature)));
  if (!matches.includes(true))
    throw new WebhookVerificationError(
      "signature_mismatch",
      "No signature matches: the secret is wrong, or the body differs from the bytes that were sent.",
    );
  return id;
}

/** The comparison is written so that NaN is refused. */
function checkTime(timestamp: number, now: number, tolerance: number): void {
  const far = `by more than ${tolerance} s; this machine's clock shows ${now}.`;
  if (!(now - timestamp <= tolerance))
    throw new WebhookVerificationError("timestamp_too_old", `The timestamp ${timestamp} is too old ${far}`);
  if (!(timestamp - now <= tolerance))
    throw new WebhookVerificationError("timestamp_too_new", `The timestamp ${timestamp} is in the future ${far}`);
}

function allSignatures(secret: Secrets, id: string, timestamp: string, body: RawBody): Promise<string[]> {
  const prefix = bytesOf(`${id}.${timestamp}.`);
  const bytes = bytesOf(body);
  const signed = new Uint8Array(prefix.length + bytes.length);
  signed.set(prefix);
  signed.set(bytes, prefix.length);
  return Promise.all(keysOf(secret).map(async (key) => `v1,${await hmac(key, signed)}`));
}

async function hmac(key: ArrayBuffer, signed: Uint8Array<ArrayBuffer>): Promise<string> {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", imported, signed));
  return btoa(String.fromCharCode(...bytes));
}

/** Compares in constant time. Both are strings: base64 has one spelling, and no other is accepted. */
function isSame(expected: string, given: string): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (let at = 0; at < expected.length; at += 1) difference |= expected.charCodeAt(at) ^ given.charCodeAt(at);
  return difference === 0;
}
