import type { Model } from "../../protocol/schema/model-schema.ts";
import { recordKey, tableOf } from "../log/tables.ts";
import type { Mutation, MutationOperation } from "./mutation.ts";
import { inOrder, type Queue } from "./queue.ts";

export interface Sending {
  readonly queue: Queue;
  readonly models: Models;
}
type Models = Readonly<Record<string, Model>>;

/** Names of the queued writes that wait behind a conflicted or rejected write. */
export function blockedNames({ queue, models }: Sending): ReadonlySet<string> {
  const names = new Set<string>();
  if (queue.waiting.length === 0) return names;
  const blocked = new Blocked(models);
  for (const mutation of inOrder(queue))
    if (blocked.stops(mutation) && mutation.stage.phase === "queued") names.add(mutation.clientTxId);
  return names;
}

/**
 * Records that earlier writes block: a later write waits if it touches one of them, or references one that is not
 * created yet.
 */
export class Blocked {
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
    const isStopped = stage.phase === "conflicted" || stage.phase === "rejected" || stage.phase === "saving";
    if (!isStopped && !keys.some((key) => this.#keys.has(key)) && !this.#isReferencedBy(mutation)) return false;
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
    const to = fields[field]?.references;
    if (to === undefined) return [];
    const ids = Array.isArray(value) ? value : [value];
    return ids.filter((id) => typeof id === "string").map((id) => recordKey({ model: to, id }));
  });
}
