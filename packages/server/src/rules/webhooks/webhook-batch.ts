import { webhookLimits } from "@holdfast/sdk/protocol";

/** A change that is to be told: where it is in the log, and how large its text is in UTF-8. */
export interface SizedEvent {
  readonly syncId: number;
  readonly bytes: number;
}

export interface Batch<E extends SizedEvent> {
  /** At least one. */
  readonly events: readonly E[];
  /** Position of the first one. */
  readonly from: number;
  /** Position of the last one. */
  readonly to: number;
}

/** As many of these as one request takes: `most`, and so many bytes; one that is larger goes alone. Undefined: there is none. */
export function cutBatch<E extends SizedEvent>(
  events: readonly E[],
  most: number,
  mostBytes: number = webhookLimits.batchBytes,
): Batch<E> | undefined {
  let bytes = FRAME_BYTES;
  let count = 0;
  for (const event of events) {
    // One comma more with each but the first.
    bytes += event.bytes + (count > 0 ? 1 : 0);
    if (count > 0 && (count === most || bytes > mostBytes)) break;
    count++;
  }
  return count === 0 ? undefined : batchOf(events.slice(0, count));
}

export function batchOf<E extends SizedEvent>(events: readonly E[]): Batch<E> | undefined {
  const [first, last] = [events[0], events.at(-1)];
  return first && last && { events, from: first.syncId, to: last.syncId };
}

/** `{"data":[` before, `],"logId":"log_…"}` behind, a comma between: what a body has beside its events. */
const FRAME_BYTES = 50;

/** The same for the same content: within a revision, positions say what they tell. */
export const webhookIdOf = (endpoint: string, revision: number, { from, to }: { from: number; to: number }): string =>
  `msg_${endpoint}_${revision}_${from}_${to}`;
