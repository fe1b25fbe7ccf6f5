import { headers } from "../protocol/headers.ts";
import type { ApplyOutcome } from "./apply-events.ts";
import type { WebhookErrorCode, WebhookVerificationError } from "./verification-error.ts";

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. A delivery's is short, because the service stores its beginning with the attempt. */
  readonly body: object;
}

export const refuse = (status: number, code: string, message: string, more?: Answer["headers"]): Answer => ({
  status,
  body: { code, message },
  ...(more && { headers: more }),
});

export const wrongMethod = refuse(405, "method_not_allowed", "A delivery must be a POST request.", { allow: "POST" });

export const tooLarge = (limit: number) => refuse(413, "body_too_large", `The body has more than ${limit} bytes.`);

export const cutOff = refuse(400, "body_cut_off", "The body was cut off.");

/** The shortest delay: the service waits at least as long as its own schedule. */
const later = { [headers.retryAfter]: "1" };

export const busy = refuse(503, "busy", "An earlier delivery is still being applied.", later);

// Only `onError` gets the details, because they may be confidential.
const FAILED = "The receiver failed; see its log.";
export const failed = refuse(500, "failed", FAILED);

export function answerTo(outcome: ApplyOutcome): Answer {
  switch (outcome.name) {
    case "done":
      return { status: 200, body: { applied: outcome.applied, known: outcome.known } };
    case "cut":
      return refuse(
        503,
        "out_of_time",
        `The receiver ran out of time. The next delivery continues with event ${outcome.next}.`,
        later,
      );
    case "failed":
      return refuse(500, "failed", outcome.at === undefined ? FAILED : `Event ${outcome.at} could not be applied.`);
  }
}

const statuses: Record<WebhookErrorCode, number> = {
  missing_header: 400,
  invalid_header: 400,
  invalid_body: 400,
  timestamp_too_old: 401,
  timestamp_too_new: 401,
  signature_mismatch: 401,
  // A misconfiguration of the receiver, which the sender cannot fix.
  invalid_secret: 500,
  body_not_raw: 500,
};

export const refusal = ({ code, message }: WebhookVerificationError): Answer => refuse(statuses[code], code, message);
