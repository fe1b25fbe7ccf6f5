import { type LogEntry, webhookLimits } from "@holdfast/sdk/protocol";
import { type Batch, cutBatch } from "../../rules/webhook-batch.ts";
import { type EventText, eventText } from "../../rules/webhook-event.ts";

/** What one request carries, and the types of its events. */
export interface TypedBatch extends Batch {
  readonly types: readonly string[];
}

/** Changes as the log tells them, cut as the server cuts what an endpoint is told. */
export function batchesOf(entries: readonly LogEntry[]): readonly TypedBatch[] {
  const events = entries.map(toldOf);
  const batches: TypedBatch[] = [];
  for (let done = 0; ; ) {
    const batch = cutBatch(events.slice(done), webhookLimits.batchEvents);
    if (!batch) return batches;
    const own = entries.slice(done, done + batch.events.length);
    batches.push({ ...batch, types: own.map(({ model, verb }) => `${model.toLowerCase()}.${verb}`) });
    done += own.length;
  }
}

function toldOf(entry: LogEntry): EventText {
  const { syncId, model, data } = entry;
  const text = eventText(entry, model, data && JSON.stringify(data));
  return { syncId, model: model.toLowerCase(), text, bytes: Buffer.byteLength(text) };
}
