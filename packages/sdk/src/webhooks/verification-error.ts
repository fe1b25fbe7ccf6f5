export type WebhookErrorCode =
  /** The signing secret is not `whsec_` and base64: the receiver is misconfigured. */
  | "invalid_secret"
  /** `webhook-id`, `webhook-timestamp` or `webhook-signature` is missing. */
  | "missing_header"
  /** One of them is malformed or occurs more than once. */
  | "invalid_header"
  /** The signature is older than the tolerance: the request may be a replay. */
  | "timestamp_too_old"
  /** The signature is too far in the future: one of the clocks is wrong. */
  | "timestamp_too_new"
  /** None of the secrets produces a signature of this body that matches. */
  | "signature_mismatch"
  /** The body is signed, but is not a batch of events. */
  | "invalid_body"
  /** Only a parsed body was available, but the signature covers the raw bytes. */
  | "body_not_raw";

/** Why a request was not accepted as a delivery. `code` is stable; the message is for people. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
