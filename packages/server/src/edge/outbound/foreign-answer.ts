import { type DeliveryError, webhookLimits } from "@holdfast/sdk/protocol";
import type { Dispatcher } from "undici";
import { TOO_MANY_PIECES } from "./bounded-answer.ts";

/* What is shown of another service's answer, or of why there was none. */

/** Most characters of the response that are stored. */
const SHOWN = 1_024;

/** Reads only the beginning of the response. Errors while reading do not matter: the status has already arrived. */
export async function beginningOf(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes >= webhookLimits.responseBytes) break;
    }
  } catch {
    // The connection was cut or too slow.
  }
  // Postgres cannot store NUL, and the cut may have split a character.
  const text = Buffer.concat(chunks).subarray(0, webhookLimits.responseBytes).toString("utf8").replaceAll("\0", "");
  return Buffer.from(text.slice(0, SHOWN)).toString("utf8");
}

/** Translates error codes of Node, OpenSSL and undici for the owner of the endpoint. */
const CODES: Readonly<Record<string, DeliveryError>> = {
  blocked_address: "blocked_address",
  [TOO_MANY_PIECES]: "invalid_response",
  UND_ERR_CONNECT_TIMEOUT: "connect_timeout",
  ETIMEDOUT: "connect_timeout",
  ECONNREFUSED: "connection_refused",
  EHOSTUNREACH: "connection_refused",
  ENETUNREACH: "connection_refused",
  EADDRNOTAVAIL: "connection_refused",
  ECONNRESET: "connection_lost",
  EPIPE: "connection_lost",
  UND_ERR_SOCKET: "connection_lost",
  ENOTFOUND: "dns_failed",
  EPROTO: "tls_failed",
  CERT_HAS_EXPIRED: "tls_failed",
  CERT_NOT_YET_VALID: "tls_failed",
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls_failed",
  SELF_SIGNED_CERT_IN_CHAIN: "tls_failed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls_failed",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls_failed",
};

const FAMILIES: readonly (readonly [RegExp, DeliveryError])[] = [
  [/^EAI_/, "dns_failed"],
  [/^(ERR_TLS|ERR_SSL|CERT_)/, "tls_failed"],
  [/^(HPE_|HTTPParserError$|UND_ERR_)/, "invalid_response"],
];

const MESSAGES: Partial<Record<DeliveryError, string>> = {
  connect_timeout: "The receiver did not accept the connection in time.",
  connection_refused: "Connection refused: nothing listens at the address.",
  tls_failed: "The TLS connection failed",
  connection_lost: "The connection was closed before the response.",
  dns_failed: "The host name could not be resolved.",
  invalid_response: "The response is not HTTP.",
};

/** Why there was no answer. */
export function reasonOf(error: unknown): { code: DeliveryError; message: string } {
  // If several addresses were tried, report the first error.
  const one = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const { name = "", code = name, message = "" } = (one ?? {}) as { name?: string; code?: string; message?: string };
  const found = CODES[code] ?? FAMILIES.find(([family]) => family.test(code))?.[1] ?? "connection_lost";
  const said = (code === TOO_MANY_PIECES ? undefined : MESSAGES[found]) ?? message.slice(0, 300);
  return { code: found, message: found === "tls_failed" ? `${said}: ${code}.` : said };
}
