export type WebhookErrorCode =
  /** The signing secret is not `whsec_` and base64: the receiver's own setting is wrong. */
  | "invalid_secret"
  /** `webhook-id`, `webhook-timestamp` or `webhook-signature` is not there. */
  | "missing_header"
  /** One of them makes no sense, or came more than once. */
  | "invalid_header"
  /** It was signed longer ago than is tolerated: perhaps somebody sends an old request again. */
  | "timestamp_too_old"
  /** It was signed in a future that is too far: one of the clocks is wrong. */
  | "timestamp_too_new"
  /** No signature was made with one of the secrets over this body. */
  | "signature_mismatch"
  /** It is signed, and not a batch of events. */
  | "invalid_body"
  /** Only a parsed body was left: a signature is over the bytes as they came. */
  | "body_not_raw";

/** Why a request was not taken for a delivery. `code` is stable, the message is for people. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
