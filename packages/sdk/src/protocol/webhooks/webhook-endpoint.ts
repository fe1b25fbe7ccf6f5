import { type Static, Type } from "typebox";
import { webhookLimits } from "./webhook-limits.ts";

const strict = { additionalProperties: false };
const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()]);

/** An https address on port 443, or from 1024 on, that is public. */
const Url = Type.String();
/** Names of models, or `*` for all. */
const EnabledEvents = Type.Array(Type.String(), { minItems: 1, maxItems: 1_000 });
const Description = Type.String({ maxLength: webhookLimits.descriptionLength });

/** Body of a registration. */
export const WebhookEndpointBody = Type.Object(
  {
    url: Url,
    /** Models whose changes are sent; default `["*"]`. */
    enabledEvents: Type.Optional(EnabledEvents),
    description: Type.Optional(Description),
    /** The position to start after; default: the current head of the log. 0 is the beginning of the log. */
    from: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  strict,
);
export type WebhookEndpointBody = Static<typeof WebhookEndpointBody>;

/** The settings of an endpoint that can be changed. A new URL is tried at once. */
export const WebhookEndpointPatch = Type.Object(
  {
    url: Type.Optional(Url),
    enabledEvents: Type.Optional(EnabledEvents),
    /** Null removes it. */
    description: Type.Optional(Nullable(Description)),
  },
  strict,
);
export type WebhookEndpointPatch = Static<typeof WebhookEndpointPatch>;

/** Body of a skip: events up to this position, inclusive, are not delivered. */
export const Skip = Type.Object({ to: Type.Integer({ minimum: 1 }) }, strict);
export type Skip = Static<typeof Skip>;

export const DELIVERY_ERRORS = [
  /** An answer that is neither a 2xx nor a redirect. */
  "unexpected_status",
  /** A 3xx: redirects are not followed. */
  "redirected",
  /** No answer within 15 s. */
  "timeout",
  /** No connection within 5 s. */
  "connect_timeout",
  "connection_refused",
  /** The connection broke before there was an answer. */
  "connection_lost",
  /** The name of the host could not be looked up. */
  "dns_failed",
  /** No secure connection: certificate expired, of another host, or signed by an unknown authority. */
  "tls_failed",
  /** The address is not public. */
  "blocked_address",
  /** What came back is not HTTP. */
  "invalid_response",
  /** The signing secret was sealed with a master key that the server does not have: roll it. */
  "secret_unreadable",
  /** The server stopped while it waited: whether the receiver took it is unknown. */
  "interrupted",
] as const;
export type DeliveryError = (typeof DELIVERY_ERRORS)[number];

const ErrorKind = Type.Unsafe<DeliveryError>(Type.Union(DELIVERY_ERRORS.map((code) => Type.Literal(code))));

/** A receiver of the log. `secret` is only in the responses to a registration and a roll. */
export const WebhookEndpoint = Type.Object({
  object: Type.Literal("webhook_endpoint"),
  id: Type.String(),
  url: Type.String(),
  status: Type.Union([Type.Literal("enabled"), Type.Literal("disabled")]),
  enabledEvents: Type.Array(Type.String()),
  description: Nullable(Type.String()),
  /** Everything up to this position was delivered, skipped, or not subscribed to. */
  cursor: Type.Integer(),
  /** Log positions after the cursor. */
  lag: Type.Integer(),
  /** Attempts at this cursor. */
  attempt: Type.Integer(),
  /** When the next one is due; null: at once, or there is nothing to retry. */
  nextAttemptAt: Nullable(Type.String()),
  /** The error of the last failed attempt; it stays when later attempts succeed. */
  lastError: Nullable(
    Type.Object({
      code: ErrorKind,
      message: Type.String(),
      /** Of the response, if there was one. */
      status: Nullable(Type.Integer()),
      /** The events that were sent. */
      from: Type.Integer(),
      to: Type.Integer(),
      at: Type.String(),
    }),
  ),
  lastSuccessAt: Nullable(Type.String()),
  /** `attempts_exhausted`: all eight attempts failed. `owner`: it was disabled by request. */
  disabledReason: Type.Union([Type.Literal("attempts_exhausted"), Type.Literal("owner"), Type.Null()]),
  /** The end of the signing secret. */
  secretLast4: Type.String(),
  createdAt: Type.String(),
  /** The key that signs deliveries: `whsec_` and base64. */
  secret: Type.Optional(Type.String()),
});
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

export const WebhookDeleted = Type.Object({
  object: Type.Literal("webhook_endpoint"),
  id: Type.String(),
  deleted: Type.Literal(true),
});

/** One request to an endpoint, or a skip by its owner. */
export const WebhookAttempt = Type.Object({
  object: Type.Literal("webhook_attempt"),
  id: Type.String(),
  kind: Type.Union([Type.Literal("delivery"), Type.Literal("test"), Type.Literal("skip")]),
  /** The `webhook-id` that it was sent with; null for a skip. */
  webhookId: Nullable(Type.String()),
  /** First and last position of what was sent, or skipped; null for a test. */
  from: Nullable(Type.Integer()),
  to: Nullable(Type.Integer()),
  /** Number of events. */
  events: Type.Integer(),
  /** The number of the attempt at its cursor, from 1; 0 for tests and skips. */
  attempt: Type.Integer(),
  /** `unknown`: the server stopped before the response. */
  outcome: Type.Union([Type.Literal("succeeded"), Type.Literal("failed"), Type.Literal("unknown")]),
  /** Of the response; null if there was none. */
  status: Nullable(Type.Integer()),
  error: Nullable(Type.Object({ code: ErrorKind, message: Type.String() })),
  /** The start of the response body, up to 1 024 characters. */
  response: Nullable(Type.String()),
  startedAt: Type.String(),
  durationMs: Type.Integer(),
});
export type WebhookAttempt = Static<typeof WebhookAttempt>;
