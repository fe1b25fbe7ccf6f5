import { headers } from "../protocol/headers.ts";
import type { Outcome } from "./apply-events.ts";
import type { WebhookErrorCode, WebhookVerificationError } from "./verification-error.ts";

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Short: the service keeps its beginning with the attempt. */
  readonly body:
    | { readonly code: string; readonly message: string }
    | { readonly applied: number; readonly known: number };
}

const refuse = (status: number, code: string, message: string, more?: Answer["headers"]): Answer => ({
  status,
  body: { code, message },
  ...(more && { headers: more }),
});

export const wrongMethod = refuse(405, "method_not_allowed", "A delivery must be a POST request.", { allow: "POST" });

export const tooLarge = (limit: number) => refuse(413, "body_too_large", `The body has more than ${limit} bytes.`);

export const cutOff = refuse(400, "body_cut_off", "The body was cut off.");

/** The shortest wait there is: the service waits at least as long as its schedule says. */
const later = { [headers.retryAfter]: "1" };

export const busy = refuse(503, "busy", "An earlier delivery is still being applied.", later);

// What went wrong is told to onError only: it may hold what is nobody else's business.
const FAILED = "The receiver failed; see its log.";
export const failed = refuse(500, "failed", FAILED);

export function answerTo(outcome: Outcome): Answer {
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
  // The receiver's own doing, which the sender cannot mend.
  invalid_secret: 500,
  body_not_raw: 500,
};

export const refusal = ({ code, message }: WebhookVerificationError): Answer => refuse(statuses[code], code, message);
