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
}

const authentication = { type: "authentication_error", status: 401, then: "sign-in" } as const;
const permission = { type: "permission_error", status: 403, then: "fix" } as const;
const notFound = { type: "not_found_error", status: 404, then: "fix" } as const;
const claim = { type: "claim_error", status: 409, then: "wait" } as const;
const unavailable = { type: "unavailable_error", status: 503, then: "retry" } as const;
const validation = <Status extends 400 | 405 | 415 | 431>(status: Status) =>
  ({ type: "validation_error", status, then: "fix" }) as const;
const conflict = (then: Remedy) => ({ type: "conflict_error", status: 409, then }) as const;

/**
 * Every error that the service can answer with: code → class, status, what to do then. What each means is said in
 * `error-sentences.ts`, under the same keys: a browser has no use for the sentences of routes that it never asks.
 */
export const errorCodes = {
  auth_no_credentials: authentication,
  apikey_invalid: authentication,
  token_expired: authentication,
  token_revoked: authentication,
  admin_required: permission,
  secret_key_required: permission,
  origin_not_allowed: permission,
  capability_scope_denied: permission,
  not_claim_holder: permission,
  own_proposal: permission,
  not_proposal_author: permission,
  preempt_denied: permission,
  on_behalf_of_denied: permission,

  invalid_json: validation(400),
  invalid_body: validation(400),
  invalid_encoding: validation(400),
  invalid_frame: validation(400),
  invalid_type: validation(400),
  invalid_value: validation(400),
  rule_broken: validation(400),
  invalid_reference: validation(400),
  invalid_id: validation(400),
  id_mismatch: validation(400),
  missing_field: validation(400),
  unknown_field: validation(400),
  unknown_column: validation(400),
  unknown_parameter: validation(400),
  empty_update: validation(400),
  invalid_limit: validation(400),
  invalid_cursor: validation(400),
  invalid_sync_group: validation(400),
  invalid_schema: validation(400),
  schema_too_old: validation(400),
  invalid_idempotency_key: validation(400),
  idempotency_key_mismatch: validation(400),
  token_in_query: validation(400),
  record_too_large: validation(400),
  commit_too_large: validation(400),
  too_many_values: validation(400),
  too_many_operations: validation(400),
  narrow_scope_required: validation(400),
  invalid_participant_kind: validation(400),
  read_at_in_future: validation(400),
  invalid_ttl: validation(400),
  duplicate_header: validation(400),
  invalid_url: validation(400),
  blocked_address: validation(400),
  datasource_unreachable: validation(400),
  method_not_allowed: validation(405),
  unsupported_media_type: validation(415),
  headers_too_large: validation(431),

  unknown_model: notFound,
  record_not_found: notFound,
  commit_not_found: notFound,
  claim_not_found: notFound,
  proposal_not_found: notFound,
  route_not_found: notFound,
  organization_not_found: notFound,
  secret_key_not_found: notFound,
  schema_not_found: notFound,
  capability_not_found: notFound,
  ephemeral_key_not_found: notFound,
  webhook_endpoint_not_found: notFound,
  datasource_not_found: notFound,

  other_log: conflict("re-read"),
  stale_context: conflict("re-read"),
  already_exists: conflict("re-read"),
  not_unique: conflict("fix"),
  still_referenced: conflict("fix"),
  too_many_dependents: conflict("fix"),
  dependency_blocked: conflict("re-read"),
  schema_incompatible: conflict("fix"),
  schema_busy: conflict("wait"),
  source_refused: conflict("fix"),
  client_id_required: conflict("fix"),
  too_many_endpoints: conflict("fix"),
  datasource_exists: conflict("fix"),
  datasource_in_use: conflict("fix"),
  datasource_busy: conflict("wait"),
  datasource_hosted: conflict("fix"),
  datasource_has_tables: conflict("fix"),
  datasource_has_models: conflict("fix"),
  endpoint_busy: conflict("wait"),
  resync_required: { type: "conflict_error", status: 410, then: "re-read" },
  claim_conflict: claim,
  claim_lost: { ...claim, then: "re-read" },
  claim_deadlock: claim,
  claim_queue_full: { ...claim, status: 429 },
  too_many_claims: { ...claim, status: 429 },
  proposal_ended: conflict("re-read"),
  not_proposed: { type: "validation_error", status: 400, then: "fix" },
  too_many_proposals: { type: "rate_limit_error", status: 429, then: "fix" },
  idempotency_conflict: { type: "idempotency_error", status: 409, then: "fix" },
  too_many_answers: { type: "rate_limit_error", status: 429, then: "wait" },
  budget_spent: { type: "rate_limit_error", status: 429, then: "fix" },
  rate_limited: { type: "rate_limit_error", status: 429, then: "wait" },
  request_too_large: { type: "too_large_error", status: 413, then: "fix" },
  answer_too_large: unavailable,
  overloaded: unavailable,
  unavailable: unavailable,
  source_changed: unavailable,
  source_unavailable: unavailable,
  storage_full: unavailable,
  internal_error: { type: "internal_error", status: 500, then: "retry" },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorCodes;

/** The codes of what is wrong with a value, a field or an option. */
export type InvalidCode = {
  [C in ErrorCode]: (typeof errorCodes)[C] extends { type: "validation_error"; status: 400 } ? C : never;
}[ErrorCode];

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code);
