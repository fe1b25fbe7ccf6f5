import type { Verb } from "../protocol/log/log.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import type { DataOf, ModelName } from "../protocol/schema/row-types.ts";
import type { WebhookEvent } from "../protocol/webhooks/webhook-event.ts";

interface EventOf<Type extends string, Name extends string, Data> {
  /** `<model in lower case>.<verb>`. */
  readonly type: Type;
  /** The model name, spelled as in the schema. */
  readonly model: Name;
  /** Id of the record. */
  readonly objectId: string;
  /** The row after the change; null if the record was deleted or erased, or cannot be read. */
  readonly data: Data;
  /** Position in the log. Order events by it, and skip those that you have applied. */
  readonly syncId: number;
  /** The same as a string. */
  readonly id: string;
  /** When the change was committed. */
  readonly createdAt: string;
}

interface UnreadableEvent<Type extends string, Name extends string> extends EventOf<Type, Name, null> {
  /** Why the record cannot be read, in a sentence: its row in a table is too large. */
  readonly unreadable: string;
}

type EventsOfModel<S extends ModelSchema, M extends ModelName<S>> = {
  [V in Verb]: V extends "deleted" | "erased"
    ? EventOf<`${Lowercase<M>}.${V}`, M, null>
    : EventOf<`${Lowercase<M>}.${V}`, M, DataOf<S, M>> | UnreadableEvent<`${Lowercase<M>}.${V}`, M>;
}[Verb];

/** One committed change, typed by the schema: `event.model` and `event.type` determine the type of `event.data`. */
export type WebhookEventOf<S extends ModelSchema> =
  string extends ModelName<S> ? Readonly<WebhookEvent> : { [M in ModelName<S>]: EventsOfModel<S, M> }[ModelName<S>];

/** The event that `POST …/webhook_endpoints/{id}/test` sends. It is not a change, so there is nothing to store. */
export type WebhookTestEvent = EventOf<"webhook_endpoint.test", "webhook_endpoint", { readonly message: string }>;

// The log has no such verb, so even a model with this name cannot produce this event type.
const TEST: WebhookTestEvent["type"] = "webhook_endpoint.test";

export const isTestEvent = (event: { readonly type: string }): event is WebhookTestEvent => event.type === TEST;
