import { WebhookVerificationError } from "./verification-error.ts";

/** A signing secret, or several during a secret rotation. A signature by any of them is accepted. */
export type Secrets = string | readonly string[];

const PREFIX = "whsec_";

/** The keys in `whsec_…` secrets. Surrounding whitespace, such as a newline from a settings file, is ignored. */
export function keysOf(secrets: Secrets): ArrayBuffer[] {
  const list = typeof secrets === "string" ? [secrets] : secrets;
  if (!Array.isArray(list) || list.length === 0) throw invalid("The signing secret is missing.");
  return list.map(keyOf);
}

function keyOf(secret: unknown): ArrayBuffer {
  if (typeof secret !== "string") throw invalid("A signing secret must be a string.");
  const text = secret.trim();
  const key = decode(text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text);
  // Error messages never contain the secret.
  if (!key || key.byteLength === 0)
    throw invalid(`A signing secret must be ${PREFIX} and base64, as the registration returned it.`);
  return key;
}

function decode(base64: string): ArrayBuffer | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)).buffer;
  } catch {
    return undefined;
  }
}

const invalid = (message: string) => new WebhookVerificationError("invalid_secret", message);
