/** Names of the headers that both sides read or write, lower-case as Node and `fetch` give them. */
export const headers = {
  idempotencyKey: "idempotency-key",
  /** As in a body, of writes of one record: UTF-8, percent-encoded where it is not ASCII. */
  reason: "holdfast-reason",
  run: "holdfast-run",
  onBehalfOf: "holdfast-on-behalf-of",
  requestId: "x-request-id",
  /** `true` when the stored receipt of an earlier request is sent again. */
  replayed: "idempotent-replayed",
  /** `true` when a stale write was held by `onStale: "notify"`: nothing was written. */
  held: "holdfast-held",
  /** The schema that the client was built with: a version, or `schemaFingerprint`. */
  schema: "holdfast-schema",
  retryAfter: "retry-after",
} as const;
