import { limits } from "../protocol/limits.ts";
import type { Mutation } from "./mutation.ts";
import { inOrder, type Queue } from "./queue.ts";

/**
 * The next writes to send, in queue order: at most `size` commits, and what one request may hold. A write waits
 * behind an earlier one of the same record that is not on disk yet, or waits for a person; one that names a record
 * which an earlier one creates waits until that is confirmed. Others pass.
 */
export function nextBulk(queue: Queue, size: number): readonly Mutation[] {
  const bulk: Mutation[] = [];
  const blocked = new Blocked();
  let bytes = ENVELOPE_BYTES;
  let operations = 0;
  for (const mutation of inOrder(queue)) {
    if (blocked.stops(mutation)) continue;
    if (mutation.stage.phase !== "queued") continue;
    bytes += mutation.bytes + 1;
    operations += mutation.operations.length;
    // One that is larger than a request should be is sent alone; the server has the last word on it.
    const full = bytes > limits.bulkBodyBytes || operations > limits.operationsPerBulk;
    if (bulk.length > 0 && full) break;
    bulk.push(mutation);
    blocked.creates(mutation);
    if (bulk.length >= size) break;
  }
  return bulk;
}

export const bulkBody = (bulk: readonly Mutation[]): string => `{"commits":[${bulk.map((m) => m.body).join(",")}]}`;

/** Names of the queued writes that wait behind one that a person has to decide about. */
export function blockedNames(queue: Queue): ReadonlySet<string> {
  const names = new Set<string>();
  if (queue.waiting.length === 0) return names;
  const blocked = new Blocked();
  for (const mutation of inOrder(queue))
    if (blocked.stops(mutation) && mutation.stage.phase === "queued") names.add(mutation.clientTxId);
  return names;
}

const ENVELOPE_BYTES = '{"commits":[]}'.length;

/** What the writes looked at so far keep from being sent: whatever touches the same records, or names one that is not there yet. */
class Blocked {
  readonly #keys = new Set<string>();
  /** Ids of records that are still to be created. */
  readonly #ids = new Set<string>();

  /** Whether a write has to wait, or makes others wait; then whatever builds on it waits too. */
  stops(mutation: Mutation): boolean {
    const { stage, keys } = mutation;
    const stands = stage.phase === "held" || stage.phase === "parked" || stage.phase === "saving";
    if (!stands && !keys.some((key) => this.#keys.has(key)) && !this.#isNamedBy(mutation)) return false;
    for (const key of keys) this.#keys.add(key);
    this.creates(mutation);
    return true;
  }

  creates({ operations }: Mutation): void {
    for (const { action, id } of operations) if (action === "create") this.#ids.add(id);
  }

  /** In a field, as a parent is named: `deckId: "d1"`, or one of a list. */
  #isNamedBy({ operations }: Mutation): boolean {
    if (this.#ids.size === 0) return false;
    const own = new Set(operations.map(({ id }) => id));
    const names = (value: unknown) => typeof value === "string" && this.#ids.has(value) && !own.has(value);
    return operations.some(({ data = {} }) =>
      Object.values(data).some((value) => names(value) || (Array.isArray(value) && value.some(names))),
    );
  }
}
