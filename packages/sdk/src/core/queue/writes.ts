import { baseOf } from "../conflicts/base.ts";
import { type Draft, emit, set, touch } from "../draft.ts";
import type { Mutated } from "../events.ts";
import { shapeOf } from "../schema/schema-hash.ts";
import { keysOf, type Mutation, serialized } from "./mutation.ts";
import { withMutations } from "./queue.ts";

/** The app made a write. This step shows it, an effect stores it, and only then is it sent. */
export function onMutated(draft: Draft, event: Mutated): void {
  const mutation: Mutation = {
    clientTxId: event.clientTxId,
    seq: undefined,
    operations: event.operations.map((o) => ({ ...o, base: null })),
    reads: event.reads,
    schema: draft.state.schemaHash,
    shape: shapeOf(draft.state.models, event.operations),
    body: "",
    bytes: 0,
    createdAt: draft.now,
    attempts: 0,
    keys: keysOf(event.operations),
    echoed: [],
    stage: { phase: "saving" },
  };
  take(draft, [mutation]);
}

/** Adds writes that were exported from a queue, with their texts and names. */
export function onImported(draft: Draft, mutations: readonly Mutation[]): void {
  set(draft, { queue: withMutations(draft.state.queue, mutations) });
  touch(
    draft,
    mutations.flatMap((m) => m.keys),
  );
  if (mutations.length > 0) persist(draft, mutations);
}

function persist(draft: Draft, mutations: readonly Mutation[]): void {
  emit(draft, { do: "persist", changes: [{ put: mutations.map((mutation) => ({ mutation })), drop: [] }] });
}

/**
 * Adds writes to the queue. Until the local store has been read, they are only shown, because their base is unknown.
 */
export function take(draft: Draft, mutations: readonly Mutation[]): void {
  const { life, clientId, rows } = draft.state;
  const writes =
    life === "starting"
      ? mutations
      : mutations.map((mutation) => {
          const operations = mutation.operations.map((o) => ({ ...o, base: baseOf(draft.state, o) }));
          return serialized({ ...mutation, operations }, clientId, rows);
        });
  set(draft, { queue: withMutations(draft.state.queue, writes), appended: [...draft.state.appended, ...writes] });
  if (life !== "starting" && writes.length > 0) persist(draft, writes);
}
