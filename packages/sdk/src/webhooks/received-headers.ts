import { webhookHeaders } from "../protocol/webhooks/webhook-limits.ts";
import { WebhookVerificationError } from "./verification-error.ts";

/** Headers of `fetch`, or of Node's `http` and the frameworks on it. */
export type ReceivedHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface SignedHeaders {
  readonly id: string;
  /** The signed time, in seconds since 1970. */
  readonly timestamp: string;
  readonly signatures: readonly string[];
}

// No dots, because the signed text `id.timestamp.body` must be unambiguous.
const ID = /^[\x21-\x2d\x2f-\x7e]{1,255}$/;
const TIMESTAMP = /^\d{1,12}$/;

export const isWebhookId = (id: string): boolean => ID.test(id);

/** The three headers of a delivery, or an error that names the invalid one. */
export function readSignedHeaders(headers: ReceivedHeaders): SignedHeaders {
  const read = reader(headers);
  const id = read(webhookHeaders.id);
  const timestamp = read(webhookHeaders.timestamp);
  const signature = read(webhookHeaders.signature);
  if (!isWebhookId(id)) throw invalid(webhookHeaders.id, "must be a name without spaces and periods");
  if (!TIMESTAMP.test(timestamp)) throw invalid(webhookHeaders.timestamp, "must be a number of seconds");
  const signatures = signature.split(" ").filter((one) => one.startsWith("v1,"));
  if (signatures.length === 0) throw invalid(webhookHeaders.signature, "must have a signature that begins with v1,");
  return { id, timestamp, signatures };
}

function reader(headers: ReceivedHeaders): (name: string) => string {
  const given = isHeaders(headers) ? (name: string) => headers.get(name) : ofRecord(headers);
  return (name) => {
    const value = given(name);
    if (value === undefined || value === null || value === "")
      throw new WebhookVerificationError("missing_header", `The header ${name} is missing.`);
    if (typeof value !== "string") throw invalid(name, "comes once");
    return value;
  };
}

const isHeaders = (headers: ReceivedHeaders): headers is { get(name: string): string | null } =>
  typeof headers?.get === "function";

/** Node gives lower-case names; other platforms may not. */
function ofRecord(headers: Readonly<Record<string, string | readonly string[] | undefined>>) {
  const byName = new Map(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  return (name: string) => {
    const value = byName.get(name);
    return Array.isArray(value) && value.length === 1 ? value[0] : value;
  };
}

const invalid = (name: string, says: string) =>
  new WebhookVerificationError("invalid_header", `The header ${name} ${says}.`);
