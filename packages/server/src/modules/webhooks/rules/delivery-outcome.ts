import type { DeliveryError } from "@holdfast/sdk/protocol";
import type { DeliveryOutcome } from "./delivery.ts";

/** The response to a request, or why there is none. */
export type ReceiverAnswer =
  | {
      readonly kind: "answered";
      readonly status: number;
      /** The header's value. */
      readonly retryAfter: string | undefined;
      /** Of a redirect: the address that it names, or undefined. */
      readonly location?: string | undefined;
      /** The beginning of the body, as text. */
      readonly body: string;
    }
  | { readonly kind: "unanswered"; readonly code: DeliveryError; readonly message: string }
  /** The sender aborted the request, so its result is unknown. */
  | { readonly kind: "interrupted" };

export const interrupted = {
  kind: "unknown",
  code: "interrupted",
  message: "The server stopped before the response, so it is unknown whether the receiver accepted the delivery.",
} as const satisfies DeliveryOutcome;

/** Only the status decides. */
export function outcomeOf(answer: ReceiverAnswer, now: number): DeliveryOutcome {
  if (answer.kind === "interrupted") return interrupted;
  if (answer.kind === "unanswered") return { ...answer, kind: "failed", status: null };
  const { status, retryAfter, location } = answer;
  if (status >= 200 && status < 300) return { kind: "succeeded", status };
  const retryAfterMs = readRetryAfter(retryAfter, now);
  return {
    kind: "failed",
    ...(status >= 300 && status < 400
      ? { code: "redirected", message: redirected(status, location) }
      : { code: "unexpected_status", message: `The receiver answered ${status}.` }),
    status,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

const redirected = (status: number, location: string | undefined): string =>
  location === undefined
    ? `The receiver answered ${status}, but redirects are not followed.`
    : `The receiver answered ${status} and names ${location}, but redirects are not followed. If that is its address, change the endpoint's url.`;

/** Seconds or an HTTP date. */
function readRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = text.endsWith("GMT") ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
