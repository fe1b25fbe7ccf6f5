/** The type and the status of each error code. */
const classes: Readonly<Record<string, readonly [type: string, status: number, codes: string]>> = {
  authentication: ["authentication_error", 401, "auth_no_credentials apikey_invalid token_expired token_revoked"],
  permission: [
    "permission_error",
    403,
    `capability_scope_denied secret_key_required admin_required not_claim_holder preempt_denied on_behalf_of_denied
     own_proposal not_proposal_author`,
  ],
  validation: [
    "validation_error",
    400,
    `invalid_json invalid_body invalid_encoding unknown_field invalid_type missing_field invalid_sync_group invalid_schema
     invalid_value rule_broken invalid_reference invalid_id id_mismatch empty_update invalid_limit invalid_cursor unknown_column read_at_in_future
     too_many_operations record_too_large commit_too_large too_many_values invalid_idempotency_key idempotency_key_mismatch duplicate_header token_in_query
     narrow_scope_required invalid_participant_kind invalid_ttl invalid_url blocked_address unknown_parameter datasource_unreachable
     not_proposed`,
  ],
  method: ["validation_error", 405, "method_not_allowed"],
  media: ["validation_error", 415, "unsupported_media_type"],
  headers: ["validation_error", 431, "headers_too_large"],
  missing: [
    "not_found_error",
    404,
    `unknown_model record_not_found route_not_found commit_not_found capability_not_found schema_not_found claim_not_found
     webhook_endpoint_not_found datasource_not_found organization_not_found secret_key_not_found ephemeral_key_not_found
     proposal_not_found`,
  ],
  conflict: [
    "conflict_error",
    409,
    `stale_context other_log already_exists not_unique still_referenced too_many_dependents dependency_blocked schema_incompatible schema_busy too_many_endpoints endpoint_busy
     datasource_exists datasource_busy datasource_in_use datasource_hosted datasource_has_tables proposal_ended`,
  ],
  claim: ["claim_error", 409, "claim_lost claim_conflict claim_deadlock"],
  line: ["claim_error", 429, "claim_queue_full too_many_claims"],
  idempotency: ["idempotency_error", 409, "idempotency_conflict idempotency_in_progress"],
  rate: ["rate_limit_error", 429, "rate_limited budget_spent too_many_proposals"],
  large: ["too_large_error", 413, "request_too_large"],
};

export function classOf(code: string): { readonly type: string; readonly status: number } {
  const found = Object.values(classes).find(([, , codes]) => codes.split(/\s+/).includes(code));
  if (!found) throw new Error(`codes.ts does not know "${code}".`);
  return { type: found[0], status: found[1] };
}
