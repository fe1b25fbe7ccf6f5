import { type EndpointSchema, type ErrorCode, errorCodes, statusesInBodies } from "@holdfast/sdk/protocol";

const ALWAYS: readonly ErrorCode[] = [
  "token_in_query",
  "duplicate_header",
  // Sending the header twice is an error even on routes that take no key.
  "invalid_idempotency_key",
  "headers_too_large",
  "auth_no_credentials",
  "apikey_invalid",
  "token_expired",
  "token_revoked",
  "rate_limited",
  "unavailable",
  "overloaded",
  "internal_error",
];
/** Errors about the body. They occur even on routes that ignore it. */
const BODY_READ: readonly ErrorCode[] = [
  "invalid_json",
  "invalid_body",
  "invalid_encoding",
  "invalid_value",
  "request_too_large",
  "unsupported_media_type",
  // On a route without a body, every field is unknown.
  "unknown_field",
];
const BODY_CHECKED: readonly ErrorCode[] = ["invalid_type", "missing_field", "storage_full"];
const WRITES: readonly ErrorCode[] = [
  "invalid_id",
  "idempotency_key_mismatch",
  "read_at_in_future",
  "stale_context",
  "other_log",
  "not_unique",
  "invalid_reference",
  "still_referenced",
  "too_many_dependents",
  "source_refused",
  "claim_conflict",
  "claim_lost",
  "idempotency_conflict",
  "unknown_model",
];

/** Whether an endpoint's body may have an idempotency key, that is, whether it writes records. */
export const isWrite = ({ body }: EndpointSchema): boolean =>
  body !== undefined && "idempotencyKey" in ((body as { properties?: object }).properties ?? {});

const FILTERED: readonly ErrorCode[] = ["unknown_column", "invalid_type"];

/** Of a code that a write has with another status. */
const STATUSES_OF_READS: { readonly [C in ErrorCode]?: number } = { record_too_large: 413 };

/** Status → the error codes of an endpoint: those in its table, and those that follow from its shape. */
export function errorsOf(
  [method, path]: readonly [method: string, path: string],
  endpoint: EndpointSchema,
  more: readonly ErrorCode[] = [],
): ReadonlyMap<number, readonly ErrorCode[]> {
  const { audience, body, query = {}, filters, errors = [] } = endpoint;
  const named = (condition: boolean, ...codes: ErrorCode[]) => (condition ? codes : []);
  const ofModel = path.includes(":model");
  const codes = new Set<ErrorCode>([
    ...ALWAYS,
    ...named(audience === "operator", "admin_required"),
    ...named(audience !== "operator", "too_many_answers"),
    ...named(audience === "secret_key", "secret_key_required"),
    ...named(audience === "token", "capability_scope_denied"),
    ...(body || method !== "GET" ? BODY_READ : []),
    ...(body ? BODY_CHECKED : []),
    ...(isWrite(endpoint) ? WRITES : []),
    ...named(ofModel, "unknown_model"),
    ...named(ofModel && path.includes(":id"), "invalid_id"),
    ...(filters ? FILTERED : (["unknown_parameter"] as const)),
    ...named(Object.keys(query).length > 0, "invalid_value"),
    ...named("limit" in query, "invalid_limit"),
    ...named("starting_after" in query, "invalid_cursor"),
    ...named("group" in query, "invalid_sync_group"),
    ...named("ids" in query, "invalid_id"),
    ...errors,
    ...more,
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const ofRead = method === "GET" ? STATUSES_OF_READS[code] : undefined;
    const status = ofRead ?? (ofModel ? undefined : statusesInBodies[code]) ?? errorCodes[code].status;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}
