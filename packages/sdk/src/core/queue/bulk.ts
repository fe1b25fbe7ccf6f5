import { clientLimits as limits } from "../../protocol/client-limits.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";
import { recordKey, tableOf } from "../log/tables.ts";
import type { Mutation, MutationOperation } from "./mutation.ts";
import { inOrder, type Queue } from "./queue.ts";

interface Sending {
  readonly queue: Queue;
  readonly models: Models;
}
type Models = Readonly<Record<string, Model>>;

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
 * With `withLog`, each commit names the log of its positions. The name precedes the stored text and is not part of the
 * commit's idempotency check.
 */
export const bulkBody = (bulk: readonly Mutation[], withLog: boolean): string =>
  `{"commits":[${bulk.map((m) => (withLog ? withLogOf(m) : m.body)).join(",")}]}`;

const withLogOf = ({ logId, body }: Mutation): string =>
  logId ? `{"logId":${JSON.stringify(logId)},${body.slice(1)}` : body;

/** Names of the queued writes that wait behind a conflicted or rejected write. */
export function blockedNames({ queue, models }: Sending): ReadonlySet<string> {
  const names = new Set<string>();
  if (queue.waiting.length === 0) return names;
  const blocked = new Blocked(models);
  for (const mutation of inOrder(queue))
    if (blocked.stops(mutation) && mutation.stage.phase === "queued") names.add(mutation.clientTxId);
  return names;
}

const ENVELOPE_BYTES = '{"commits":[]}'.length;

/**
 * Records that earlier writes block: a later write waits if it touches one of them, or references one that is not
 * created yet.
 */
class Blocked {
  readonly #keys = new Set<string>();
  /** Records whose create is not confirmed yet. */
  readonly #created = new Set<string>();
  readonly #models: Models;

  constructor(models: Models) {
    this.#models = models;
  }

  /** Whether a write has to wait or makes later writes wait. If so, writes that depend on it wait too. */
  stops(mutation: Mutation): boolean {
    const { stage, keys } = mutation;
    const stands = stage.phase === "held" || stage.phase === "parked" || stage.phase === "saving";
    if (!stands && !keys.some((key) => this.#keys.has(key)) && !this.#isReferencedBy(mutation)) return false;
    for (const key of keys) this.#keys.add(key);
    this.creates(mutation);
    return true;
  }

  creates({ operations }: Mutation): void {
    for (const operation of operations) if (operation.action === "create") this.#created.add(recordKey(operation));
  }

  /** Whether the write references an uncreated record in a reference field, such as `deckId: "d1"` or a list of ids. */
  #isReferencedBy({ operations, keys }: Mutation): boolean {
    if (this.#created.size === 0) return false;
    return operations.some((operation) =>
      referencesOf(operation, this.#models).some((key) => this.#created.has(key) && !keys.includes(key)),
    );
  }
}

/** Keys of the records in an operation's reference fields. */
function referencesOf({ model, data = {} }: MutationOperation, models: Models): readonly string[] {
  const fields = models[tableOf(model)]?.fields ?? {};
  return Object.entries(data).flatMap(([field, value]) => {
    const to = Object.hasOwn(fields, field) ? fields[field]?.references : undefined;
    if (to === undefined) return [];
    const ids = Array.isArray(value) ? value : [value];
    return ids.filter((id) => typeof id === "string").map((id) => recordKey({ model: to, id }));
  });
}
