import { webhookHeaders, webhookLimits } from "../protocol/webhooks/webhook-limits.ts";
import { bytesOf, type RawBody } from "./raw-body.ts";
import { isWebhookId, type ReceivedHeaders, readSignedHeaders } from "./received-headers.ts";
import { keysOf, type Secrets } from "./secret.ts";
import { WebhookVerificationError } from "./verification-error.ts";

// Standard Webhooks, symmetric: HMAC-SHA256 with the secret's bytes over `id.timestamp.body`, in base64 behind "v1,".

export interface SignOptions {
  /** Of several each signs: the receiver may know any of them. */
  readonly secret: Secrets;
  /** The `webhook-id`: the same when the same content is sent again. */
  readonly id: string;
  readonly body: RawBody;
  /** When it is sent, in milliseconds since 1970. Default: now. */
  readonly now?: number;
}

export type SignatureHeaders = Record<(typeof webhookHeaders)[keyof typeof webhookHeaders], string>;

/** The three headers that a delivery of this body carries. */
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
  /** How far the timestamp may be from `now`, either way. Default: 5 minutes. */
  readonly toleranceMs?: number;
  /** The receiver's clock, in milliseconds since 1970. Default: now. */
  readonly now?: number;
}

/** Rejects unless one of the secrets signed exactly this body, not long ago. Gives its `webhook-id`. */
export async function checkSignature(options: CheckOptions): Promise<string> {
  const { secret, headers, body, toleranceMs = webhookLimits.toleranceMs, now = Date.now() } = options;
  const { id, timestamp, signatures } = readSignedHeaders(headers);
  checkTime(Number(timestamp), Math.floor(now / 1000), toleranceMs / 1000);
  // One HMAC for each secret, however many signatures somebody sends along.
  const expected = await allSignatures(secret, id, timestamp, body);
  const matches = expected.flatMap((one) => signatures.map((signature) => isSame(one, signature)));
  if (!matches.includes(true))
    throw new WebhookVerificationError(
      "signature_mismatch",
      "No signature matches: the secret is wrong, or the body differs from the bytes that were sent.",
    );
  return id;
}

/** Written so that what is no number refuses. */
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

async function hmac(key: Uint8Array<ArrayBuffer>, signed: Uint8Array<ArrayBuffer>): Promise<string> {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", imported, signed));
  return btoa(String.fromCharCode(...bytes));
}

/** In a time that says nothing of where they differ. Both are text: base64 has one spelling, and no other is taken. */
function isSame(expected: string, given: string): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (let at = 0; at < expected.length; at += 1) difference |= expected.charCodeAt(at) ^ given.charCodeAt(at);
  return difference === 0;
}
