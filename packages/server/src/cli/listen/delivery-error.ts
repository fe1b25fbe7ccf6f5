import type { DeliveryError } from "@holdfast/sdk/protocol";

export interface DeliveryFault {
  readonly code: DeliveryError;
  readonly message: string;
}

/** Why a request got no answer, in the words of the server's own attempts. */
export function faultOf(error: Error & { readonly cause?: unknown }): DeliveryFault {
  if (error.name === "TimeoutError") return { code: "timeout", message: "no answer in time" };
  // OpenSSL keeps what is wrong apart from a message that is for its own people.
  const { code = "", reason, message } = (error.cause ?? {}) as Partial<Record<"code" | "reason" | "message", string>>;
  const found = FAULTS.find(([pattern]) => pattern.test(code));
  const [, kind, words] = found ?? ([/./, "connection_lost", "the connection broke"] as const);
  return {
    code: kind,
    message: kind === "tls_failed" || !found ? `${words}: ${reason || message || error.message}` : words,
  };
}

const FAULTS: readonly (readonly [RegExp, DeliveryError, string])[] = [
  [/^ECONNREFUSED$/, "connection_refused", "connection refused: nobody listens there"],
  [/^(ENOTFOUND|EAI_AGAIN)$/, "dns_failed", "the name of the host is not known"],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, "connection_lost", "the connection broke before there was an answer"],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "connect_timeout", "no connection in time"],
  [/^HPE_/, "invalid_response", "what came back is not HTTP"],
  [/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/, "tls_failed", "no secure connection"],
];
