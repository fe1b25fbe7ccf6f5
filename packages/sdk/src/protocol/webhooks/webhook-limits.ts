const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Names of the headers of a delivery, as Standard Webhooks gives them. */
export const webhookHeaders = {
  /** `msg_<endpoint>_<revision>_<from>_<to>`: the same for the same content. */
  id: "webhook-id",
  /** Seconds since 1970. */
  timestamp: "webhook-timestamp",
  /** `v1,<base64>`, several with spaces between while a secret is being rolled. */
  signature: "webhook-signature",
} as const;

/** What sender and receiver of webhooks keep to. Sizes in bytes, times in milliseconds. */
export const webhookLimits = {
  endpoints: 20,
  urlLength: 2_048,
  descriptionLength: 1_000,
  /** In one batch; `batchBytes` too, and an event that is larger alone goes alone. */
  batchEvents: 100,
  batchBytes: 1_048_576,
  connectMs: 5 * SECOND,
  /** From the connecting to the end of the answer. */
  requestMs: 15 * SECOND,
  /** Of an answer's body so much is read. */
  responseBytes: 16_384,
  /** The wait before each attempt, from the end of the one that failed: 27 h 35 min 5 s in all. */
  schedule: [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
  /** How long the secret before the last roll still signs, beside the new one. */
  rotationMs: 24 * HOUR,
  /** How far a delivery's timestamp may be from the receiver's clock. */
  toleranceMs: 5 * MINUTE,
  /** Of each endpoint, the newest. */
  attemptsKept: 1_000,
  secretBytes: 32,
} as const;
