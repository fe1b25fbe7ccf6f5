import { limits } from "../protocol/limits.ts";
import type { Mutation } from "./mutation.ts";
import { inOrder, type Queue } from "./queue.ts";

/**
 * The next writes to send, in queue order: at most `size` commits, and what one request may hold. A write waits
 * behind an earlier one of the same record that is not on disk yet, or waits for a person; other records pass.
 */
export function nextBulk(queue: Queue, size: number): readonly Mutation[] {
  const bulk: Mutation[] = [];
  const blocked = new Set<string>();
  let bytes = ENVELOPE_BYTES;
  let operations = 0;
  for (const mutation of inOrder(queue)) {
    if (waits(mutation, blocked)) continue;
    if (mutation.stage.phase !== "queued") continue;
    bytes += mutation.bytes + 1;
    operations += mutation.operations.length;
    // One that is larger than a request should be is sent alone; the server has the last word on it.
    const full = bytes > limits.bulkBodyBytes || operations > limits.operationsPerBulk;
    if (bulk.length > 0 && full) break;
    bulk.push(mutation);
    if (bulk.length >= size) break;
  }
  return bulk;
}

export const bulkBody = (bulk: readonly Mutation[]): string => `{"commits":[${bulk.map((m) => m.body).join(",")}]}`;

/** Names of the queued writes that wait behind one that a person has to decide about. */
export function blockedNames(queue: Queue): ReadonlySet<string> {
  const names = new Set<string>();
  if (queue.waiting.length === 0) return names;
  const blocked = new Set<string>();
  for (const mutation of inOrder(queue))
    if (waits(mutation, blocked) && mutation.stage.phase === "queued") names.add(mutation.clientTxId);
  return names;
}

const ENVELOPE_BYTES = '{"commits":[]}'.length;

/** Whether a write has to wait, or makes others wait; then whatever touches its records waits too. */
function waits({ stage, keys }: Mutation, blocked: Set<string>): boolean {
  const stands = stage.phase === "held" || stage.phase === "parked" || stage.phase === "saving";
  if (!stands && (blocked.size === 0 || !keys.some((key) => blocked.has(key)))) return false;
  for (const key of keys) blocked.add(key);
  return true;
}
