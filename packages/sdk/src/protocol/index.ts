// What both sides agree on. The SDK's own code imports values from the constant files only
// (apply, client-paths, close-codes, commit-problem, compare-values, error-codes, field-value, headers, json-equal, json-problem, limits, meets-conditions, operation-param, version), so that no TypeBox reaches a browser.

export { Decide } from "./changes/decide.ts";
export {
  AcceptBody,
  EndProposalBody,
  PROPOSAL_STATUSES,
  Proposal,
  type ProposalStatus,
  ProposedOperation,
} from "./changes/proposal.ts";
export { Propose } from "./changes/propose.ts";
export { KeptRecord, RevertBody, Reverted } from "./changes/revert.ts";
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
} from "./claims/claim.ts";
export { STREAM_PATH } from "./client-paths.ts";
export { ACTIONS, type Action } from "./commits/action.ts";
export { applyOperation, type Moment, type Row, type WriteStep } from "./commits/apply.ts";
export {
  type Attribution,
  attributionOf,
  type ChangeAttribution,
  changeAttributionOf,
} from "./commits/attribution-of.ts";
export { attributionProblem } from "./commits/attribution-problem.ts";
export { changesProblem } from "./commits/changes-problem.ts";
export { BulkBody, BulkReply, CommitBody, CommitReceipt } from "./commits/commit.ts";
export { commitProblem, groupProblem, isSyncGroup, recordSizeProblem } from "./commits/commit-problem.ts";
export {
  changedValues,
  type FieldChange,
  type FieldChanges,
  isIncrement,
  isOutOfRange,
  takesChange,
  writtenFields,
} from "./commits/field-change.ts";
export { Operation, type OperationBody, Read } from "./commits/operation.ts";
export { operationIndexOf, operationParam } from "./commits/operation-param.ts";
export { OnStale, StaleNotification } from "./commits/stale.ts";
export { Datasource, DatasourceBody, DatasourceKey } from "./datasources/datasource.ts";
export {
  type SourceAnswers,
  SourceCall,
  type SourceCommit,
  type SourceOperation,
  type SourceRecord,
  type SourceResult,
  sourceAnswers,
  sourceLimits,
} from "./datasources/source-calls.ts";
export type { Audience, EndpointSchema, QueryParameter } from "./endpoint-schema.ts";
export { type Body, endpoints, type Reply } from "./endpoints.ts";
export { ErrorEnvelope, RequiredCapability } from "./errors/error.ts";
export { type ErrorCode, type ErrorType, errorCodes, isErrorCode, type Remedy } from "./errors/error-codes.ts";
export { errorSentences, remedySentences, statusesInBodies } from "./errors/error-sentences.ts";
export { headers } from "./headers.ts";
export type { Json, JsonObject } from "./json.ts";
export { jsonEqual } from "./json-equal.ts";
export { type JsonProblem, jsonProblem } from "./json-problem.ts";
export { limits, type ServerLimits, serverLimits } from "./limits.ts";
export { type Comparable, comparable, compareValues, isScalar, SORTED_CHARACTERS } from "./lists/compare-values.ts";
export { type List, ListEnvelope } from "./lists/list.ts";
export { QueryBody } from "./lists/query-body.ts";
export { folded, searchedFields, searchWords } from "./lists/text-search.ts";
export { type FollowedConditions, FollowedRecords } from "./log/followed-records.ts";
export { LogEntry, PARTICIPANT_KINDS, type ParticipantKind, VERBS, type Verb } from "./log/log.ts";
export { followedValue, meetsConditions } from "./log/meets-conditions.ts";
export { BareWriteBody, CreateBody, ReadEnvelope, UpdateBody } from "./log/record.ts";
export { SnapshotEnd, SnapshotLine, SnapshotStart } from "./log/snapshot.ts";
export { UnreadableRecord } from "./log/unreadable-record.ts";
export {
  Deleted,
  Organization,
  OrganizationBody,
  RevokeBody,
  SecretKey,
  SecretKeyBody,
} from "./organizations/operator.ts";
export { Usage } from "./organizations/usage.ts";
export { ownValue } from "./own-value.ts";
export { type EndpointName, paths } from "./paths.ts";
export { Peer, PeerSession } from "./presence/presence.ts";
export { isRecordId } from "./record-id.ts";
export { isDateTime } from "./schema/datetime.ts";
export { type BrokenRule, brokenRule, type FieldRule, faultOfRules } from "./schema/field-rules.ts";
export { expectedValue, fits, isFilledByServer, isRequired } from "./schema/field-value.ts";
export {
  FIELD_TYPES,
  Field,
  type FieldType,
  GroupRule,
  Model,
  type ModelSchema,
  ModelTable,
  type OnDelete,
  Rename,
  SchemaPush,
  SchemaPushed,
  SchemaRead,
} from "./schema/model-schema.ts";
export { brokenPattern, faultOfPattern } from "./schema/pattern.ts";
export {
  brokenRecordRule,
  faultOfTransitions,
  faultOfWriters,
  type JudgedWrite,
  type RuleWriter,
} from "./schema/record-rules.ts";
export { relationName } from "./schema/relations.ts";
export { modelFingerprint, type SpelledModel, schemaFingerprint } from "./schema/schema-fingerprint.ts";
export { shortHash } from "./short-hash.ts";
export { AnswerFrame, Call, STREAM_CALLS, type StreamCall } from "./stream/call-frames.ts";
export { closeCodes } from "./stream/close-codes.ts";
export {
  ClaimFrame,
  ClaimsFrame,
  Entries,
  ErrorFrame,
  FrameDown,
  Pong,
  PresenceFrame,
  ProposalsFrame,
  Renewed,
  Resync,
  type ResyncReason,
  SchemaFrame,
  Welcome,
} from "./stream/frames-down.ts";
export { Auth, Follow, FrameUp, Hello, Ping, Presence, Watch, WatchProposals } from "./stream/frames-up.ts";
export {
  Part,
  PartEntries,
  Parts,
  Refused,
  Subscribe,
  Subscribed,
  Unsubscribe,
  Unsubscribed,
} from "./stream/part-frames.ts";
export { Capability, CapabilityBody, EphemeralKey, EphemeralKeyBody, Identity, RotateBody } from "./tokens/tokens.ts";
export { INTERFACE_VERSION, STREAM_PROTOCOL, WIRE_VERSION } from "./version.ts";
export {
  DELIVERY_ERRORS,
  type DeliveryError,
  Skip,
  WebhookAttempt,
  WebhookDeleted,
  WebhookEndpoint,
  WebhookEndpointBody,
  WebhookEndpointPatch,
} from "./webhooks/webhook-endpoint.ts";
export { WebhookBatch, WebhookEvent } from "./webhooks/webhook-event.ts";
export { webhookHeaders, webhookLimits } from "./webhooks/webhook-limits.ts";
