import { clientLimits as limits } from "../../protocol/client-limits.ts";
import { Blocked, type Sending } from "./blocked.ts";
import type { Mutation } from "./mutation.ts";
import { inOrder } from "./queue.ts";

/**
 * Returns the next writes to send, in queue order: at most `size` commits, and no more than one request may contain. A
 * write waits behind an earlier write to the same record that is not on disk yet or needs a decision. A write that
 * references a record waits until the create of that record is confirmed. All other writes may pass.
 */
export function nextBulk({ queue, models }: Sending, size: number): readonly Mutation[] {
  const bulk: Mutation[] = [];
  const blocked = new Blocked(models);
  let bytes = ENVELOPE_BYTES;
  let operations = 0;
  for (const mutation of inOrder(queue)) {
    if (blocked.stops(mutation)) continue;
    if (mutation.stage.phase !== "queued") continue;
    bytes += mutation.bytes + 1;
    operations += mutation.operations.length;
    // A write that exceeds the request limit is sent alone; the server decides whether to accept it.
    const full = bytes > limits.bulkBodyBytes || operations > limits.operationsPerBulk;
    if (bulk.length > 0 && full) break;
    bulk.push(mutation);
    blocked.creates(mutation);
    if (bulk.length >= size) break;
  }
  return bulk;
}

/**
 * Each commit names the log of its positions. The name precedes the stored text and is not part of the commit's
 * idempotency check.
 */
export const bulkBody = (bulk: readonly Mutation[]): string => `{"commits":[${bulk.map(withLogOf).join(",")}]}`;

const withLogOf = ({ logId, body }: Mutation): string =>
  logId ? `{"logId":${JSON.stringify(logId)},${body.slice(1)}` : body;

const ENVELOPE_BYTES = '{"commits":[]}'.length;
