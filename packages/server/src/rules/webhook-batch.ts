import { webhookLimits } from "@holdfast/sdk/protocol";
import type { EventText } from "./webhook-event.ts";

export interface Batch {
  /** At least one. */
  readonly events: readonly EventText[];
  /** Position of the first one. */
  readonly from: number;
  /** Position of the last one. */
  readonly to: number;
}

/** As many of these as one request takes: `most`, and so many bytes; one that is larger goes alone. Undefined: there is none. */
export function cutBatch(
  events: readonly EventText[],
  most: number,
  mostBytes: number = webhookLimits.batchBytes,
): Batch | undefined {
  let bytes = FRAME.length;
  let count = 0;
  for (const event of events) {
    // One comma more with each but the first.
    bytes += event.bytes + (count > 0 ? 1 : 0);
    if (count > 0 && (count === most || bytes > mostBytes)) break;
    count++;
  }
  return count === 0 ? undefined : batchOf(events.slice(0, count));
}

export function batchOf(events: readonly EventText[]): Batch | undefined {
  const [first, last] = [events[0], events.at(-1)];
  return first && last && { events, from: first.syncId, to: last.syncId };
}

const FRAME = '{"data":[]}';

export const bodyOf = (events: readonly EventText[]): string => `{"data":[${events.map(({ text }) => text).join()}]}`;

/** The same for the same content: within a revision, positions say what they tell. */
export const webhookIdOf = (endpoint: string, revision: number, { from, to }: Pick<Batch, "from" | "to">): string =>
  `msg_${endpoint}_${revision}_${from}_${to}`;
