import { WebhookVerificationError } from "./verification-error.ts";

/** A signing secret, or several while one is being rolled: what one of them signed is taken. */
export type Secrets = string | readonly string[];

const PREFIX = "whsec_";

/** The keys behind `whsec_…`. What surrounds a secret in a file of settings, a line's end for instance, is not part of it. */
export function keysOf(secrets: Secrets): Uint8Array<ArrayBuffer>[] {
  const list = typeof secrets === "string" ? [secrets] : secrets;
  if (!Array.isArray(list) || list.length === 0) throw invalid("The signing secret is missing.");
  return list.map(keyOf);
}

function keyOf(secret: unknown): Uint8Array<ArrayBuffer> {
  if (typeof secret !== "string") throw invalid("A signing secret must be a string.");
  const text = secret.trim();
  const key = decode(text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text);
  // The secret itself is never part of a message.
  if (!key || key.length === 0)
    throw invalid(`A signing secret must be ${PREFIX} and base64, as the registration returned it.`);
  return key;
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return undefined;
  }
}

const invalid = (message: string) => new WebhookVerificationError("invalid_secret", message);
