// Uses only fetch, so it runs in Node and in edge runtimes. A browser must not have the secret key.
export { isSyncError, SyncError } from "../errors.ts";
export type { CommitReceipt } from "../protocol/commits/commit.ts";
export type { Field, Model, ModelSchema, Rename, SchemaPushed } from "../protocol/schema/model-schema.ts";
export { defineSchema } from "../protocol/schema/row-types.ts";
export type { Capability, CapabilityBody, Identity } from "../protocol/tokens/tokens.ts";
export type {
  WebhookEndpoint,
  WebhookEndpointBody,
  WebhookEndpointPatch,
} from "../protocol/webhooks/webhook-endpoint.ts";
export { type WebhookErrorCode, WebhookVerificationError } from "../webhooks/verification-error.ts";
export type { VerifyOptions, WebhookDelivery } from "../webhooks/verify-webhook.ts";
export {
  type Backend,
  type BackendCommitOptions,
  type BackendOptions,
  createBackend,
  type Revocation,
  type Revoked,
  type TokenOptions,
  type WebhookEndpoints,
} from "./create-backend.ts";
