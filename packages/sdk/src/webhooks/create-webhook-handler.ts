import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import { webhookLimits } from "../protocol/webhooks/webhook-limits.ts";
import type { WebhookEventOf } from "./event.ts";
import { answerByNode, arrivedByNode, type NodeRequest, type NodeResponse } from "./node-request.ts";
import { memoryPosition, type PositionStore } from "./position-store.ts";
import { type FailedDelivery, type Handed, receiver, type Settings } from "./receive.ts";
import { keysOf, type Secrets } from "./secret.ts";
import { arrivedByFetch, asResponse } from "./web-request.ts";

export interface WebhookHandlerOptions<S extends ModelSchema = ModelSchema> {
  /** The signing secret of the endpoint, `whsec_…`; several while one is being rolled. */
  readonly secret: Secrets;
  /** Types the events, as `defineSchema` gave it. Events of models that it does not have are passed over. */
  readonly schema?: S;
  /**
   * Called for each event that the store does not know yet, in the order of the log, one after the other. When it
   * throws, or rejects, the delivery is answered with 500 and comes again, beginning with this event. It is waited for as
   * long as it takes: what it asks of others needs a time limit of its own.
   */
  readonly onEvent: (event: WebhookEventOf<S>, delivery: Handed) => unknown;
  /** How far one has come. Default: `memoryPosition()`, which a restart forgets. */
  readonly store?: PositionStore;
  /** Told what failed here: in `onEvent`, in the store, or because the raw body is gone. Default: `console.error`. */
  readonly onError?: (error: unknown, delivery: FailedDelivery) => unknown;
  /**
   * How long a delivery is worked on. Then it is answered with 503 after the event that is being applied, and comes
   * again with the rest. Default 10 000; the service waits 15 000 for an answer.
   */
  readonly timeLimitMs?: number;
  /** The largest body, in bytes; beyond it 413. Default 8 MiB: a batch has 1 MiB, a single large event may have more. */
  readonly bodyLimit?: number;
  /** How far a delivery's timestamp may be from this machine's clock. Default: 5 minutes. */
  readonly toleranceMs?: number;
  /** This machine's clock, in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
}

/** The same receiver for both kinds of server. Its methods can be passed on without it. */
export interface WebhookHandler {
  /** For whatever hands over a `Request`: Workers, Deno, Bun, route handlers of frameworks. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** For Node's `http` and the frameworks on it. */
  readonly node: (request: NodeRequest, response: NodeResponse) => Promise<void>;
}

const MEBIBYTE = 1_048_576;

/** Takes deliveries: verifies them, and hands over each event once and in order, as far as the store remembers. */
export function createWebhookHandler<const S extends ModelSchema = ModelSchema>(
  options: WebhookHandlerOptions<S>,
): WebhookHandler {
  const { bodyLimit = 8 * MEBIBYTE, ...others } = options;
  // A secret that cannot be right is found when the app starts, not when the first delivery comes.
  keysOf(options.secret);
  const receive = receiver(settingsOf(others));
  return {
    fetch: async (request) => asResponse(await receive(arrivedByFetch(request, bodyLimit))),
    node: async (request, response) =>
      answerByNode(request, response, await receive(arrivedByNode(request, bodyLimit))),
  };
}

function settingsOf<S extends ModelSchema>(options: Omit<WebhookHandlerOptions<S>, "bodyLimit">): Settings {
  const { secret, schema, store = memoryPosition(), toleranceMs = webhookLimits.toleranceMs } = options;
  const { timeLimitMs = 10_000, now = Date.now, onError = toConsole } = options;
  // What the service signed keeps to the schema that was pushed to it.
  const onEvent = options.onEvent as unknown as Settings["onEvent"];
  return { secret, schema, store, toleranceMs, timeLimitMs, now, onError, onEvent };
}

const toConsole: Settings["onError"] = (error, delivery) =>
  console.error("A webhook delivery could not be applied.", delivery, error);
