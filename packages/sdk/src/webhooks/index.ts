// Uses only fetch types and WebCrypto, so it runs in Node, in edge runtimes and in browsers.
export type { ModelSchema } from "../protocol/schema/model-schema.ts";
export { defineSchema } from "../protocol/schema/row-types.ts";
export { createWebhookHandler, type WebhookHandler, type WebhookHandlerOptions } from "./create-webhook-handler.ts";
export { isTestEvent, type WebhookEventOf, type WebhookTestEvent } from "./event.ts";
export type { NodeRequest, NodeResponse } from "./node-request.ts";
export { type LogPosition, memoryPosition, type PositionStore } from "./position-store.ts";
export type { RawBody } from "./raw-body.ts";
export type { FailedDelivery } from "./receive.ts";
export type { ReceivedHeaders } from "./received-headers.ts";
export type { Secrets } from "./secret.ts";
export { type SignatureHeaders, type SignOptions, signWebhook } from "./signature.ts";
export { type WebhookErrorCode, WebhookVerificationError } from "./verification-error.ts";
export { type VerifyOptions, verifyWebhook, type WebhookDelivery } from "./verify-webhook.ts";
