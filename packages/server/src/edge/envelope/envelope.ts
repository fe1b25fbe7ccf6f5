import { type ErrorCode, type ErrorEnvelope, type ErrorType, errorCodes, errorSentences } from "@holdfast/sdk/protocol";
import type { Refusal } from "../../kernel/refusal.ts";

/** Returns the documentation URL of an error code, for the envelope's `doc_url`. */
export type DocUrl = (code: ErrorCode) => string;

export const statusOf = (refusal: Refusal): number => refusal.status ?? errorCodes[refusal.code].status;

/** A refusal in the form of every error body and error frame. */
export function envelopeOf(refusal: Refusal, requestId: string | undefined, docUrl: DocUrl): ErrorEnvelope {
  const row = errorCodes[refusal.code];
  return {
    type: refusal.status === 400 ? ("validation_error" satisfies ErrorType) : row.type,
    message: refusal.message ?? errorSentences[refusal.code],
    code: refusal.code,
    ...(refusal.param !== undefined && { param: refusal.param }),
    ...(refusal.requiredCapability !== undefined && { requiredCapability: refusal.requiredCapability }),
    ...(refusal.blockedBy !== undefined && { blockedBy: refusal.blockedBy }),
    ...(refusal.claims !== undefined && { claims: [...refusal.claims] }),
    ...(refusal.problems !== undefined && { problems: refusal.problems }),
    ...(refusal.rule !== undefined && { rule: refusal.rule }),
    ...(refusal.fields !== undefined && { fields: [...refusal.fields] }),
    ...(refusal.records !== undefined && { records: refusal.records }),
    ...(refusal.source !== undefined && { source: refusal.source }),
    doc_url: docUrl(refusal.code),
    ...(requestId !== undefined && { request_id: requestId }),
  };
}

/** The envelope as JSON. For a commit it also has the rejected receipt. */
export function envelopeText(
  refusal: Refusal,
  requestId: string | undefined,
  docUrl: DocUrl,
  receipt?: string,
): string {
  const text = JSON.stringify(envelopeOf(refusal, requestId, docUrl));
  return receipt === undefined ? text : `${text.slice(0, -1)},"receipt":${receipt}}`;
}

/** Response headers for a refusal. */
export function refusalHeaders(refusal: Refusal): Record<string, string> {
  const status = statusOf(refusal);
  if (status === 401) return { "www-authenticate": "Bearer" };
  if (status === 503 || status === 429) return { "retry-after": "1" };
  return {};
}
