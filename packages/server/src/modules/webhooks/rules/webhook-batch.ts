import { webhookLimits } from "@holdfast/sdk/protocol";

/** An event to deliver: its log position, and its size in UTF-8. */
export interface SizedEvent {
  readonly syncId: number;
  readonly bytes: number;
}

export interface WebhookBatch<E extends SizedEvent> {
  /** At least one. */
  readonly events: readonly E[];
  /** Position of the first one. */
  readonly from: number;
  /** Position of the last one. */
  readonly to: number;
}

/**
 * Cuts as many events as fit into one request, by count and by bytes. An event that is larger than a request goes
 * alone. Undefined if there are none.
 */
export function cutBatch<E extends SizedEvent>(
  events: readonly E[],
  most: number,
  mostBytes: number = webhookLimits.batchBytes,
): WebhookBatch<E> | undefined {
  let bytes = FRAME_BYTES;
  let count = 0;
  for (const event of events) {
    // Plus one comma before each event but the first.
    bytes += event.bytes + (count > 0 ? 1 : 0);
    if (count > 0 && (count === most || bytes > mostBytes)) break;
    count++;
  }
  return count === 0 ? undefined : batchOf(events.slice(0, count));
}

export function batchOf<E extends SizedEvent>(events: readonly E[]): WebhookBatch<E> | undefined {
  const [first, last] = [events[0], events.at(-1)];
  return first && last && { events, from: first.syncId, to: last.syncId };
}

/** The bytes of a body besides its events: `{"data":[`, `],"logId":"log_…"}` and commas. */
const FRAME_BYTES = 50;

/** The same id for the same content: within a revision, positions determine the content. */
export const webhookIdOf = (endpoint: string, revision: number, { from, to }: { from: number; to: number }): string =>
  `msg_${endpoint}_${revision}_${from}_${to}`;
