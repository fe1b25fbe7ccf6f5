import type { Verb } from "../protocol/log/log.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import type { ModelName, RowOf } from "../protocol/schema/row-types.ts";
import type { WebhookEvent } from "../protocol/webhooks/webhook-event.ts";

interface EventOf<Type extends string, Name extends string, Data> {
  /** `<model in lower case>.<verb>`. */
  readonly type: Type;
  /** The model, as the schema spells it. */
  readonly model: Name;
  /** Id of the record. */
  readonly objectId: string;
  /** The row after; null when the record was deleted or erased. */
  readonly data: Data;
  /** Position in the log: order by it, and skip what is known already. */
  readonly syncId: number;
  /** The same as text. */
  readonly id: string;
  /** When it was committed. */
  readonly createdAt: string;
}

type EventsOfModel<S extends ModelSchema, M extends ModelName<S>> = {
  [V in Verb]: EventOf<`${Lowercase<M>}.${V}`, M, V extends "deleted" | "erased" ? null : RowOf<S, M>>;
}[Verb];

/** One committed change; typed by the schema, so that `event.model` and `event.type` tell what `event.data` is. */
export type WebhookEventOf<S extends ModelSchema> =
  string extends ModelName<S> ? Readonly<WebhookEvent> : { [M in ModelName<S>]: EventsOfModel<S, M> }[ModelName<S>];

/** What `POST …/webhook_endpoints/{id}/test` sends: it is no change, and there is nothing to store. */
export type WebhookTestEvent = EventOf<"webhook_endpoint.test", "webhook_endpoint", { readonly message: string }>;

// No verb of the log is called so: not even a model of this name has such an event.
const TEST: WebhookTestEvent["type"] = "webhook_endpoint.test";

export const isTestEvent = (event: { readonly type: string }): event is WebhookTestEvent => event.type === TEST;
