/** Coarse class of an error, the envelope's `type`. */
export type ErrorType =
  | "authentication_error"
  | "permission_error"
  | "validation_error"
  | "not_found_error"
  | "conflict_error"
  | "claim_error"
  | "idempotency_error"
  | "rate_limit_error"
  | "too_large_error"
  | "unavailable_error"
  | "internal_error";

/** What a caller does about an error: whether to retry comes from here, never from a message. */
export type Remedy = "fix" | "re-read" | "wait" | "retry" | "sign-in";

interface ErrorRow {
  readonly type: ErrorType;
  readonly status: number;
  readonly then: Remedy;
  readonly says: string;
}

const authentication = (says: string) =>
  ({ type: "authentication_error", status: 401, then: "sign-in", says }) as const;
const permission = (says: string) => ({ type: "permission_error", status: 403, then: "fix", says }) as const;
const validation = (says: string, status: 400 | 405 | 415 | 431 = 400) =>
  ({ type: "validation_error", status, then: "fix", says }) as const;
const notFound = (says: string) => ({ type: "not_found_error", status: 404, then: "fix", says }) as const;
const conflict = (says: string, then: Remedy = "re-read") =>
  ({ type: "conflict_error", status: 409, then, says }) as const;
const claim = (says: string) => ({ type: "claim_error", status: 409, then: "wait", says }) as const;
const unavailable = (says: string) => ({ type: "unavailable_error", status: 503, then: "retry", says }) as const;

/** Every error that the service can answer with: code → class, status, what to do then, one sentence. */
export const errorCodes = {
  auth_no_credentials: authentication("The request carries no bearer token."),
  apikey_invalid: authentication("The token is not one of ours, or its checksum is wrong."),
  token_expired: authentication("The token's time is over."),
  token_revoked: authentication("The token was revoked."),
  admin_required: permission("Only the operator's token opens this route."),
  secret_key_required: permission("Only a secret key (sk_) opens this route."),
  origin_not_allowed: permission("This browser origin is not among the allowed ones."),
  capability_scope_denied: permission("The token's scope does not cover this."),

  invalid_json: validation("The body is not valid JSON."),
  invalid_body: validation("The body does not have the shape that this route takes."),
  invalid_encoding: validation("The body is not UTF-8."),
  invalid_frame: validation("The frame is not one that the stream understands."),
  invalid_type: validation("A value has the wrong type."),
  invalid_value: validation("A value cannot be kept: out of range, malformed, or too deep."),
  invalid_id: validation("An id is 1 to 255 of A-Z, a-z, 0-9 and . _ : ~ - and neither . nor .."),
  id_mismatch: validation("The id in the body is not the id in the path."),
  missing_field: validation("A required field is missing."),
  unknown_field: validation("A field is not one that this place knows."),
  unknown_column: validation("The column is not one that this model can be listed by."),
  unknown_parameter: validation("The query parameter is not one that this route takes."),
  empty_update: validation("An update needs at least one field in data."),
  invalid_limit: validation("The limit is not a whole number within its bounds."),
  invalid_cursor: validation("The cursor is not one that this list gave."),
  invalid_sync_group: validation("A sync group is <kind>:<id>."),
  invalid_schema: validation("The pushed schema is not well formed."),
  invalid_idempotency_key: validation("An idempotency key is 1 to 255 visible ASCII characters."),
  idempotency_key_mismatch: validation("Header and body name different idempotency keys."),
  token_in_query: validation("A token was sent in the address. It should be considered leaked."),
  too_many_operations: validation("A commit takes 1 to 100 operations and up to 100 reads."),
  read_at_in_future: validation("readAt lies beyond the head of the log."),
  duplicate_header: validation("A header that may come once came twice."),
  method_not_allowed: validation("The route does not know this method.", 405),
  unsupported_media_type: validation("The body has to be application/json in UTF-8.", 415),
  headers_too_large: validation("The request's headers are too large.", 431),

  unknown_model: notFound("No such model is in the pushed schema."),
  record_not_found: notFound("There is no such record."),
  route_not_found: notFound("There is no such route."),
  organization_not_found: notFound("There is no such organisation."),
  secret_key_not_found: notFound("There is no such secret key."),
  schema_not_found: notFound("No schema has been pushed yet."),

  stale_context: conflict("The record, or a premise, moved since readAt."),
  already_exists: conflict("A record with this id exists with other content."),
  dependency_blocked: conflict("An earlier commit of the list that this one builds on failed."),
  schema_incompatible: conflict("The change would hide or refuse existing data.", "fix"),
  resync_required: {
    type: "conflict_error",
    status: 410,
    then: "re-read",
    says: "The log no longer reaches back to this position.",
  },
  claim_conflict: claim("Somebody else holds a claim on this."),
  claim_lost: claim("The claim named by the write is not active, not yours, or not on this record."),
  idempotency_conflict: {
    type: "idempotency_error",
    status: 409,
    then: "fix",
    says: "The same key was used for something else.",
  },
  rate_limited: {
    type: "rate_limit_error",
    status: 429,
    then: "wait",
    says: "Too many requests for this token.",
  },
  request_too_large: {
    type: "too_large_error",
    status: 413,
    then: "fix",
    says: "The body is larger than this route takes.",
  },
  overloaded: unavailable("The service is too busy to answer in time."),
  unavailable: unavailable("The outcome is unknown. Ask again with the same key to learn it."),
  storage_full: unavailable("The database has no room left."),
  internal_error: {
    type: "internal_error",
    status: 500,
    then: "retry",
    says: "A fault on our side.",
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorCodes;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code);
