import { type LogEntry, type WebhookEvent, webhookLimits } from "@holdfast/sdk/protocol";

/** What one delivery carries. */
export interface Batch {
  /** Positions of the first and the last event. */
  readonly from: number;
  readonly to: number;
  readonly types: readonly string[];
  readonly body: string;
}

export interface Limits {
  readonly batchEvents: number;
  readonly batchBytes: number;
}

/** A change of the log as a receiver is told of it. */
export const eventOf = ({ model, verb, id, data, syncId, createdAt }: LogEntry): WebhookEvent => ({
  type: `${model.toLowerCase()}.${verb}`,
  model,
  objectId: id,
  data,
  syncId,
  id: String(syncId),
  createdAt,
});

/** Changes in their order, cut where the next one would make a batch too large; one that is too large alone goes alone. */
export function batchesOf(
  entries: readonly LogEntry[],
  { batchEvents, batchBytes }: Limits = webhookLimits,
): readonly Batch[] {
  const cut: { readonly event: WebhookEvent; readonly text: string }[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const event = eventOf(entry);
    const text = JSON.stringify(event);
    // With the comma, or the bracket, behind it.
    const more = Buffer.byteLength(text) + 1;
    const last = cut.at(-1);
    if (last && last.length < batchEvents && bytes + more <= batchBytes) last.push({ event, text });
    else {
      cut.push([{ event, text }]);
      bytes = FRAME_BYTES - 1;
    }
    bytes += more;
  }
  return cut.map((batch) => ({
    from: batch[0]?.event.syncId ?? 0,
    to: batch.at(-1)?.event.syncId ?? 0,
    types: batch.map(({ event }) => event.type),
    body: `${OPEN}${batch.map(({ text }) => text).join(",")}${CLOSE}`,
  }));
}

const OPEN = '{"data":[';
const CLOSE = "]}";
const FRAME_BYTES = OPEN.length + CLOSE.length;
