import type { EndpointSchema } from "../endpoint-schema.ts";
import { ListEnvelope } from "../lists/list.ts";
import type { EndpointName } from "../paths.ts";
import { tokenPage } from "../query-parameters.ts";
import {
  Skip,
  WebhookAttempt,
  WebhookDeleted,
  WebhookEndpoint,
  WebhookEndpointBody,
  WebhookEndpointPatch,
} from "./webhook-endpoint.ts";

const webhookUrlErrors = ["invalid_url", "blocked_address"] as const;

/** Webhook endpoints and their deliveries. */
export const webhookEndpoints = {
  createWebhookEndpoint: {
    summary: "Register a webhook endpoint",
    audience: "secret_key",
    body: WebhookEndpointBody,
    reply: { 201: WebhookEndpoint },
    errors: [...webhookUrlErrors, "unknown_model", "read_at_in_future", "resync_required", "too_many_endpoints"],
  },
  listWebhookEndpoints: {
    summary: "List webhook endpoints, oldest first",
    audience: "secret_key",
    reply: { 200: ListEnvelope(WebhookEndpoint) },
  },
  readWebhookEndpoint: {
    summary: "Read one webhook endpoint",
    audience: "secret_key",
    reply: { 200: WebhookEndpoint },
    errors: ["webhook_endpoint_not_found"],
  },
  updateWebhookEndpoint: {
    summary: "Change a webhook endpoint's address or subscription",
    audience: "secret_key",
    body: WebhookEndpointPatch,
    reply: { 200: WebhookEndpoint },
    errors: ["webhook_endpoint_not_found", ...webhookUrlErrors, "unknown_model"],
  },
  deleteWebhookEndpoint: {
    summary: "Remove a webhook endpoint",
    audience: "secret_key",
    reply: { 200: WebhookDeleted },
    errors: ["webhook_endpoint_not_found"],
  },
  rollWebhookSecret: {
    summary: "Replace a webhook endpoint's signing secret",
    audience: "secret_key",
    reply: { 201: WebhookEndpoint },
    errors: ["webhook_endpoint_not_found"],
  },
  enableWebhookEndpoint: {
    summary: "Resume deliveries to an endpoint, from its cursor and at once",
    audience: "secret_key",
    reply: { 201: WebhookEndpoint },
    errors: ["webhook_endpoint_not_found"],
  },
  disableWebhookEndpoint: {
    summary: "Stop delivering to an endpoint",
    audience: "secret_key",
    reply: { 201: WebhookEndpoint },
    errors: ["webhook_endpoint_not_found"],
  },
  testWebhookEndpoint: {
    summary: "Send an endpoint a test event",
    audience: "secret_key",
    reply: { 201: WebhookAttempt },
    errors: ["webhook_endpoint_not_found", "endpoint_busy"],
  },
  skipWebhookEvents: {
    summary: "Skip events that an endpoint does not accept",
    audience: "secret_key",
    body: Skip,
    reply: { 201: WebhookEndpoint },
    errors: ["webhook_endpoint_not_found", "read_at_in_future"],
  },
  listWebhookAttempts: {
    summary: "List delivery attempts of an endpoint, newest first",
    audience: "secret_key",
    query: tokenPage,
    reply: { 200: ListEnvelope(WebhookAttempt) },
    errors: ["webhook_endpoint_not_found", "invalid_cursor"],
  },
} as const satisfies Partial<Record<EndpointName, EndpointSchema>>;
