import { limits, type WebhookAttempt, type WebhookEndpoint } from "@holdfast/sdk/protocol";
import type { Handlers } from "../../edge/http/answer.ts";
import { readInteger } from "../../edge/http/query.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";
import type { TestWebhook } from "./flows/test-webhook.ts";
import type {
  Endpoint,
  EndpointWithSecret,
  ListedAttempt,
  WebhookEndpointFlows,
} from "./flows/webhook-endpoint-flows.ts";

type WebhookHandlers = Pick<
  Handlers,
  | "createWebhookEndpoint"
  | "listWebhookEndpoints"
  | "readWebhookEndpoint"
  | "updateWebhookEndpoint"
  | "deleteWebhookEndpoint"
  | "rollWebhookSecret"
  | "enableWebhookEndpoint"
  | "disableWebhookEndpoint"
  | "testWebhookEndpoint"
  | "skipWebhookEvents"
  | "listWebhookAttempts"
>;

/** Webhook endpoints and their deliveries. */
export function webhookRoutes(flows: WebhookEndpointFlows, test: TestWebhook): WebhookHandlers {
  return {
    createWebhookEndpoint: async ({ principal, body }) => withSecret(await flows.create(principal, body)),
    listWebhookEndpoints: async ({ principal }) => ({
      value: {
        object: "list",
        data: (await flows.list(principal)).map(endpointOf),
        has_more: false,
        next_cursor: null,
      },
    }),
    readWebhookEndpoint: async ({ principal, params: { id = "" } }) => shown(200, await flows.read(principal, id)),
    updateWebhookEndpoint: async ({ principal, params: { id = "" }, body }) =>
      shown(200, await flows.update(principal, id, body)),
    deleteWebhookEndpoint: async ({ principal, params: { id = "" } }) =>
      (await flows.remove(principal, id))
        ? { value: { object: "webhook_endpoint", id, deleted: true } }
        : { refusal: notFound },
    rollWebhookSecret: async ({ principal, params: { id = "" } }) => withSecret(await flows.rollSecret(principal, id)),
    enableWebhookEndpoint: async ({ principal, params: { id = "" } }) => shown(201, await flows.enable(principal, id)),
    disableWebhookEndpoint: async ({ principal, params: { id = "" } }) =>
      shown(201, await flows.disable(principal, id)),
    testWebhookEndpoint: async ({ principal, params: { id = "" }, signal }) => {
      const attempt = (await test(principal, id, signal())) ?? notFound;
      return isRefusal(attempt) ? { refusal: attempt } : { status: 201, value: attemptOf(attempt) };
    },
    skipWebhookEvents: async ({ principal, params: { id = "" }, body }) =>
      shown(201, await flows.skip(principal, id, body.to)),
    listWebhookAttempts: async ({ principal, params: { id = "" }, query: { one } }) => {
      const limit = readInteger(one.limit, { name: "limit", min: 1, max: limits.listMax, absent: limits.listDefault });
      if (isRefusal(limit)) return { refusal: limit };
      const page = (await flows.attempts(principal, id, { limit, cursor: one.starting_after })) ?? notFound;
      if (isRefusal(page)) return { refusal: page };
      const { attempts, nextCursor } = page;
      return {
        value: {
          object: "list",
          data: attempts.map(attemptOf),
          has_more: nextCursor !== null,
          next_cursor: nextCursor,
        },
      };
    },
  };
}

const notFound = refuse("webhook_endpoint_not_found", { param: "id" });

function shown(status: number, endpoint: Endpoint | Refusal | undefined) {
  const found = endpoint ?? notFound;
  return isRefusal(found) ? { refusal: found } : { status, value: endpointOf(found) };
}

function withSecret(endpoint: EndpointWithSecret | Refusal | undefined) {
  const found = endpoint ?? notFound;
  return isRefusal(found)
    ? { refusal: found }
    : { status: 201, value: { ...endpointOf(found), secret: found.clearSecret } };
}

function endpointOf(endpoint: Endpoint): WebhookEndpoint {
  const { disabledReason, cursor, attempt, nextAttemptAt, lastError, lastSuccessAt } = endpoint.delivery;
  return {
    object: "webhook_endpoint",
    id: endpoint.id,
    url: endpoint.url,
    status: disabledReason === null ? "enabled" : "disabled",
    enabledEvents: [...endpoint.enabledEvents],
    description: endpoint.description,
    cursor,
    lag: Math.max(0, endpoint.head - cursor),
    attempt,
    nextAttemptAt: disabledReason === null && nextAttemptAt !== null ? iso(nextAttemptAt) : null,
    lastError: lastError && { ...lastError, at: iso(lastError.at) },
    lastSuccessAt: lastSuccessAt === null ? null : iso(lastSuccessAt),
    disabledReason,
    secretLast4: endpoint.secretLast4,
    createdAt: endpoint.createdAt,
  };
}

const attemptOf = ({ errorCode, errorMessage, ...attempt }: Omit<ListedAttempt, "nth">): WebhookAttempt => ({
  object: "webhook_attempt",
  id: attempt.id,
  kind: attempt.kind,
  webhookId: attempt.webhookId,
  from: attempt.from,
  to: attempt.to,
  events: attempt.events,
  attempt: attempt.attempt,
  outcome: attempt.outcome,
  status: attempt.status,
  error: errorCode === null ? null : { code: errorCode, message: errorMessage ?? "" },
  response: attempt.response,
  startedAt: attempt.startedAt,
  durationMs: attempt.durationMs,
});

const iso = (ms: number): string => new Date(ms).toISOString();
