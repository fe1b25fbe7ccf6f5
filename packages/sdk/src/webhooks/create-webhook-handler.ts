import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import { webhookLimits } from "../protocol/webhooks/webhook-limits.ts";
import type { WebhookEventOf } from "./event.ts";
import { answerByNode, arrivedByNode, type NodeRequest, type NodeResponse } from "./node-request.ts";
import { memoryPosition, type PositionStore } from "./position-store.ts";
import { type FailedDelivery, type Handed, type ReceiverSettings, receiver } from "./receive.ts";
import { keysOf, type Secrets } from "./secret.ts";
import { arrivedByFetch, asResponse } from "./web-request.ts";

export interface WebhookHandlerOptions<S extends ModelSchema = ModelSchema> {
  /** The signing secret of the endpoint, `whsec_…`; several during a secret rotation. */
  readonly secret: Secrets;
  /** The schema from `defineSchema`, which types the events. Events of other models are skipped. */
  readonly schema?: S | undefined;
  /**
   * Called for each event that the store does not know yet, one after the other in log order. If it throws or rejects,
   * the delivery is answered with 500 and retried from this event. The handler waits for it without a limit, so give
   * your own requests in it a timeout.
   */
  readonly onEvent: (event: WebhookEventOf<S>, delivery: Handed) => unknown;
  /** Where to store the position. Default: `memoryPosition()`, which is lost on a restart. */
  readonly store?: PositionStore | undefined;
  /** Called with errors in `onEvent`, in the store, or because the raw body is missing. Default: `console.error`. */
  readonly onError?: ((error: unknown, delivery: FailedDelivery) => unknown) | undefined;
  /**
   * How long to work on one delivery. After that, the event in progress is finished, the delivery is answered with 503,
   * and the rest is delivered again. Default 10 000; the service waits 15 000 for an answer.
   */
  readonly timeLimitMs?: number | undefined;
  /**
   * The maximum body size in bytes; larger bodies are answered with 413. Default 8 MiB: a batch has up to 1 MiB, but a
   * single large event may have more.
   */
  readonly bodyLimit?: number | undefined;
  /** How far a delivery's timestamp may differ from this machine's clock. Default: 5 minutes. */
  readonly toleranceMs?: number | undefined;
  /** This machine's clock, in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** One receiver for both kinds of server. Its methods work without `this`. */
export interface WebhookHandler {
  /** For platforms that use `Request`: Workers, Deno, Bun, route handlers of frameworks. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** For Node's `http` and the frameworks on it. */
  readonly node: (request: NodeRequest, response: NodeResponse) => Promise<void>;
}

const MEBIBYTE = 1_048_576;

/**
 * Creates a receiver that verifies deliveries, and passes on each event once and in order, as far as the store
 * remembers.
 */
export function createWebhookHandler<const S extends ModelSchema = ModelSchema>(
  options: WebhookHandlerOptions<S>,
): WebhookHandler {
  const { bodyLimit = 8 * MEBIBYTE, ...others } = options;
  const { toleranceMs, timeLimitMs } = options;
  for (const [name, value] of Object.entries({ bodyLimit, toleranceMs, timeLimitMs }))
    if (value !== undefined && !(typeof value === "number" && value >= 0))
      throw new TypeError(`${name} must be a number, 0 or more (got ${String(value)}).`);
  // Refuse an invalid secret when the app starts, not at the first delivery.
  keysOf(options.secret);
  const receive = receiver(settingsOf(others));
  return {
    fetch: async (request) => asResponse(await receive(arrivedByFetch(request, bodyLimit))),
    node: async (request, response) =>
      answerByNode(request, response, await receive(arrivedByNode(request, bodyLimit))),
  };
}

function settingsOf<S extends ModelSchema>(options: Omit<WebhookHandlerOptions<S>, "bodyLimit">): ReceiverSettings {
  const { secret, schema, store = memoryPosition(), toleranceMs = webhookLimits.toleranceMs } = options;
  const { timeLimitMs = 10_000, now = Date.now, onError = toConsole } = options;
  // Signed events conform to the schema that was pushed to the service.
  const onEvent = options.onEvent as unknown as ReceiverSettings["onEvent"];
  return { secret, schema, store, toleranceMs, timeLimitMs, now, onError, onEvent };
}

const toConsole: ReceiverSettings["onError"] = (error, delivery) =>
  console.error("A webhook delivery could not be applied.", delivery, error);
