import { changeAttributionOf, type LogEntry, webhookLimits } from "@holdfast/sdk/protocol";
import { cutBatch, type SizedEvent, type WebhookBatch } from "../rules/webhook-batch.ts";
import { eventText } from "../rules/webhook-event.ts";

/** A change as the receiver gets it. */
export interface LocalEvent extends SizedEvent {
  /** `slide.updated` */
  readonly type: string;
  /** JSON. */
  readonly text: string;
}

/** Cuts log entries into batches, like the server does for an endpoint. */
export function batchesOf(entries: readonly LogEntry[]): readonly WebhookBatch<LocalEvent>[] {
  const batches: WebhookBatch<LocalEvent>[] = [];
  for (let rest = entries.map(eventOf); ; ) {
    const batch = cutBatch(rest, webhookLimits.batchEvents);
    if (!batch) return batches;
    batches.push(batch);
    rest = rest.slice(batch.events.length);
  }
}

export const bodyOf = ({ events }: WebhookBatch<LocalEvent>): Buffer =>
  Buffer.from(`{"data":[${events.map(({ text }) => text).join()}]}`);

function eventOf(entry: LogEntry): LocalEvent {
  const { syncId, model, verb, unreadable } = entry;
  const values = entry.data ?? unreadable;
  const said = changeAttributionOf(entry);
  const attribution = said ? JSON.stringify(said) : null;
  const text = eventText({ ...entry, attribution }, model, {
    data: values === undefined ? null : JSON.stringify(values),
  });
  return { syncId, type: `${model.toLowerCase()}.${verb}`, text, bytes: Buffer.byteLength(text) };
}
