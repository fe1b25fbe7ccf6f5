import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import { readBatch } from "./batch.ts";
import type { WebhookEventOf, WebhookTestEvent } from "./event.ts";
import { bytesOf } from "./raw-body.ts";
import { type CheckOptions, checkSignature } from "./signature.ts";

export interface VerifyOptions<S extends ModelSchema = ModelSchema> extends CheckOptions {
  /** Types the events, as `defineSchema` gave it. Events of models that it does not have are left out. */
  readonly schema?: S;
}

/** A request that the service signed. */
export interface WebhookDelivery<S extends ModelSchema = ModelSchema> {
  /** The `webhook-id`: the same when the same content comes again. */
  readonly id: string;
  /** As they were sent: in the order of the log. */
  readonly events: readonly (WebhookEventOf<S> | WebhookTestEvent)[];
  /** The log that their positions count in. Older servers leave it out. */
  readonly logId?: string | undefined;
}

/** The events of a request, if the service signed it; else it rejects with a `WebhookVerificationError`. */
export async function verifyWebhook<const S extends ModelSchema = ModelSchema>(
  options: VerifyOptions<S>,
): Promise<WebhookDelivery<S>> {
  const body = bytesOf(options.body);
  const id = await checkSignature({ ...options, body });
  // What the service signed keeps to the schema that was pushed to it.
  const { events, logId } = readBatch(body, options.schema);
  return { id, events: events as unknown as WebhookDelivery<S>["events"], ...(logId !== undefined && { logId }) };
}
