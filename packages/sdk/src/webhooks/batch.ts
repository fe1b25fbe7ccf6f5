import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import type { WebhookEvent } from "../protocol/webhooks/webhook-event.ts";
import { isTestEvent } from "./event.ts";
import { WebhookVerificationError } from "./verification-error.ts";

export interface ReadBatch {
  readonly events: WebhookEvent[];
  readonly logId: string;
}

/** Parses a body. Leaves out events of models that the schema does not contain. */
export function readBatch(body: Uint8Array, schema: ModelSchema | undefined): ReadBatch {
  const batch = parse(body);
  if (!isObject(batch) || !Array.isArray(batch.data)) throw invalid('The body must have a list "data".');
  const { data: events, logId } = batch as { data: unknown[]; logId: unknown };
  if (typeof logId !== "string") throw invalid('The body must have a string "logId".');
  const at = events.findIndex((event) => !isEvent(event));
  if (at >= 0) throw invalid(`data[${at}] is not an event.`);
  return { events: withSchemaNames(schema, events as WebhookEvent[]), logId };
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
  } catch (cause) {
    throw invalid("The body is not JSON in UTF-8.", cause);
  }
}

function isEvent(value: unknown): value is WebhookEvent {
  if (!isObject(value)) return false;
  const { type, model, objectId, data, syncId, id, createdAt } = value;
  return (
    [type, model, objectId, id, createdAt].every((text) => typeof text === "string") &&
    (data === null || isObject(data)) &&
    Number.isSafeInteger(syncId)
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The service ignores the case of model names; an app compares with the spelling in its own schema. */
function withSchemaNames(schema: ModelSchema | undefined, events: WebhookEvent[]): WebhookEvent[] {
  if (!schema) return events;
  const ours = new Map(Object.keys(schema.models).map((name) => [name.toLowerCase(), name]));
  return events.flatMap((event): WebhookEvent[] => {
    if (isTestEvent(event)) return [event];
    const model = ours.get(event.model.toLowerCase());
    return model === undefined ? [] : [{ ...event, model }];
  });
}

const invalid = (message: string, cause?: unknown) => new WebhookVerificationError("invalid_body", message, { cause });
