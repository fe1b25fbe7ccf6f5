// What both sides agree on. The SDK's own code imports values from the constant files only
// (apply, client-paths, error-codes, field-value, frames-down, headers, limits, version), so that no TypeBox reaches a browser.
export { applyOperation, type Row, type WriteStep } from "./apply.ts";
export {
  CLAIM_STATUSES,
  Claim,
  ClaimBody,
  ClaimList,
  ClaimOrderBody,
  ClaimRelease,
  ClaimRenewBody,
  type ClaimStatus,
  ClaimTargetBody,
} from "./claim.ts";
export { STREAM_PATH } from "./client-paths.ts";
export { BulkBody, BulkReply, CommitBody, CommitReceipt } from "./commit.ts";
export { Datasource } from "./datasource.ts";
export { isDateTime } from "./datetime.ts";
export {
  type Audience,
  type Body,
  type EndpointSchema,
  endpoints,
  type QueryParameter,
  type Reply,
} from "./endpoints.ts";
export { ErrorEnvelope, RequiredCapability } from "./error.ts";
export { type ErrorCode, type ErrorType, errorCodes, isErrorCode, type Remedy } from "./error-codes.ts";
export { errorSentences, remedySentences, statusesInBodies } from "./error-sentences.ts";
export { expectedValue, fits, isRequired } from "./field-value.ts";
export {
  type ClaimFrame,
  type ClaimsFrame,
  closeCodes,
  type Entries,
  type ErrorFrame,
  type FrameDown,
  type Pong,
  type PresenceFrame,
  type Resync,
  type ResyncReason,
  type SchemaFrame,
  type Welcome,
} from "./frames-down.ts";
export { Auth, Follow, FrameUp, Hello, Ping, Presence, Watch } from "./frames-up.ts";
export { headers } from "./headers.ts";
export type { Json, JsonObject } from "./json.ts";
export { limits, type ServerLimits, serverLimits } from "./limits.ts";
export { type List, ListEnvelope } from "./list.ts";
export { LogEntry, PARTICIPANT_KINDS, type ParticipantKind, VERBS, type Verb } from "./log.ts";
export {
  FIELD_TYPES,
  Field,
  type FieldType,
  GroupRule,
  Model,
  type ModelSchema,
  Rename,
  SchemaPush,
  SchemaPushed,
  SchemaRead,
} from "./model-schema.ts";
export { ACTIONS, type Action, Operation, type OperationBody, Read } from "./operation.ts";
export { Deleted, Organization, OrganizationBody, RevokeBody, SecretKey, SecretKeyBody } from "./operator.ts";
export { type EndpointName, paths } from "./paths.ts";
export type { Peer, PeerSession } from "./presence.ts";
export { BareWriteBody, CreateBody, ReadEnvelope, UpdateBody } from "./record.ts";
export type { SnapshotEnd, SnapshotLine, SnapshotStart } from "./snapshot.ts";
export { OnStale, StaleNotification } from "./stale.ts";
export { Capability, CapabilityBody, EphemeralKey, EphemeralKeyBody, Identity, RotateBody } from "./tokens.ts";
export { Usage } from "./usage.ts";
export { INTERFACE_VERSION, STREAM_PROTOCOL } from "./version.ts";
export {
  DELIVERY_ERRORS,
  type DeliveryError,
  Skip,
  WebhookAttempt,
  WebhookDeleted,
  WebhookEndpoint,
  WebhookEndpointBody,
  WebhookEndpointPatch,
} from "./webhook-endpoint.ts";
export { WebhookBatch, WebhookEvent } from "./webhook-event.ts";
export { webhookHeaders, webhookLimits } from "./webhook-limits.ts";
