import { baseOf, seenAt } from "../conflicts/base.ts";
import { type Draft, emit, set, touch } from "../draft.ts";
import type { Mutated } from "../events.ts";
import { lookUp, refOf } from "../log/tables.ts";
import type { QueueState } from "../state.ts";
import { asNew, wallOf } from "./age.ts";
import { forgetGone } from "./erased.ts";
import type { Mutation } from "./mutation.ts";
import { newWrite, show } from "./new-write.ts";
import { find, withMutations } from "./queue.ts";
import { serialized } from "./serialized.ts";

/** The app made a write. This step shows it, an effect stores it, and only then is it sent. */
export const onMutated = (draft: Draft, event: Mutated): void =>
  take(draft, [{ ...newWrite(draft, event), createdAt: wallOf(draft) }]);

/** Adds writes that were exported from a queue, with their texts and names. */
export function onImported(draft: Draft, mutations: readonly Mutation[]): void {
  set<QueueState>(draft, { queue: withMutations(draft.state.queue, mutations) });
  const keys = mutations.flatMap((m) => m.keys);
  touch(draft, keys);
  const { rows, scope } = draft.state;
  const hasAll = Object.values(scope).every((part) => part === undefined);
  // The record may have been erased since they were exported.
  if (rows.position !== undefined && hasAll)
    forgetGone(
      draft,
      keys.filter((key) => !lookUp(rows.tables, refOf(key))),
    );
  const { queue } = draft.state;
  const taken = mutations.map((m) => find(queue, m.clientTxId) ?? m);
  if (taken.length > 0) persist(draft, taken);
}

function persist(draft: Draft, mutations: readonly Mutation[]): void {
  emit(draft, { do: "persist", changes: [{ put: mutations.map((mutation) => ({ mutation })), drop: [] }] });
}

/**
 * Adds writes to the queue. Until the local store has been read, they are only shown, because their base is unknown.
 */
export function take(draft: Draft, mutations: readonly Mutation[]): void {
  const { life, clientId, rows } = draft.state;
  if (life === "starting") return show(draft, mutations);
  const writes = mutations.map((mutation) => {
    const operations = mutation.operations.map((o) => ({
      ...o,
      base: baseOf(draft.state, o),
      readAt: o.readAt ?? seenAt(draft.state, o),
    }));
    return serialized(asNew({ ...mutation, operations }, draft), clientId, rows);
  });
  show(draft, writes);
  if (writes.length > 0) persist(draft, writes);
}
