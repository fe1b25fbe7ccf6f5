import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import { readBatch } from "./batch.ts";
import type { WebhookEventOf, WebhookTestEvent } from "./event.ts";
import { bytesOf } from "./raw-body.ts";
import { type CheckOptions, checkSignature } from "./signature.ts";

export interface VerifyOptions<S extends ModelSchema = ModelSchema> extends CheckOptions {
  /** The schema from `defineSchema`, which types the events. Events of other models are left out. */
  readonly schema?: S | undefined;
}

/** A request that the service has signed. */
export interface WebhookDelivery<S extends ModelSchema = ModelSchema> {
  /** The `webhook-id`, which stays the same when the same content is sent again. */
  readonly id: string;
  /** In log order. */
  readonly events: readonly (WebhookEventOf<S> | WebhookTestEvent)[];
  /** The log of the events' positions. */
  readonly logId: string;
}

/**
 * Resolves with the events of a request that the service has signed; rejects with a `WebhookVerificationError`
 * otherwise.
 */
export async function verifyWebhook<const S extends ModelSchema = ModelSchema>(
  options: VerifyOptions<S>,
): Promise<WebhookDelivery<S>> {
  const body = bytesOf(options.body);
  const id = await checkSignature({ ...options, body });
  // Signed events conform to the schema that was pushed to the service.
  const { events, logId } = readBatch(body, options.schema);
  return { id, events: events as unknown as WebhookDelivery<S>["events"], logId };
}
