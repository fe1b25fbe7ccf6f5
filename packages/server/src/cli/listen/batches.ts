import { type LogEntry, webhookLimits } from "@holdfast/sdk/protocol";
import { cutBatch, type SizedEvent, type WebhookBatch } from "../../rules/webhooks/webhook-batch.ts";
import { eventText } from "../../rules/webhooks/webhook-event.ts";

/** A change as a receiver is told of it. */
export interface ToldEvent extends SizedEvent {
  /** `slide.updated` */
  readonly type: string;
  /** JSON. */
  readonly text: string;
}

/** Changes as the log tells them, cut as the server cuts what an endpoint is told. */
export function batchesOf(entries: readonly LogEntry[]): readonly WebhookBatch<ToldEvent>[] {
  const batches: WebhookBatch<ToldEvent>[] = [];
  for (let rest = entries.map(toldOf); ; ) {
    const batch = cutBatch(rest, webhookLimits.batchEvents);
    if (!batch) return batches;
    batches.push(batch);
    rest = rest.slice(batch.events.length);
  }
}

export const bodyOf = ({ events }: WebhookBatch<ToldEvent>): Buffer =>
  Buffer.from(`{"data":[${events.map(({ text }) => text).join()}]}`);

function toldOf(entry: LogEntry): ToldEvent {
  const { syncId, model, verb, data } = entry;
  const text = eventText(entry, model, data && JSON.stringify(data));
  return { syncId, type: `${model.toLowerCase()}.${verb}`, text, bytes: Buffer.byteLength(text) };
}
