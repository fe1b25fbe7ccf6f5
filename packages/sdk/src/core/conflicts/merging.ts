import type { StaleNotification } from "../../protocol/commits/stale.ts";
import { type Draft, emit, set, touch } from "../draft.ts";
import type { Plan } from "../events.ts";
import { recordKey, tableOf } from "../log/tables.ts";
import { expectedSlot, keysOf, type Mutation } from "../queue/mutation.ts";
import { nextName } from "../queue/next-name.ts";
import { withReplaced } from "../queue/queue-changes.ts";
import { serialized } from "../queue/serialized.ts";
import type { ClientState, QueueState } from "../state.ts";

/** How often in a row a write is merged, if others change the same field each time before it arrives. */
const MOST_MERGES = 5;

/**
 * Whether only fields with `merge` conflict, in a write that rests on nothing else. Whether they can be merged is not
 * said by that.
 */
export function mayMerge({ models }: ClientState, stale: Mutation, notifications: readonly StaleNotification[]) {
  if (stale.reads.length > 0 || (stale.merges ?? 0) >= MOST_MERGES || !expectedSlot(stale)) return false;
  return notifications.every(({ group, model, conflictingFields, ...record }) => {
    const fields = models[tableOf(model)]?.fields ?? {};
    const key = recordKey({ model, id: record.id });
    const own = stale.operations.filter((o) => recordKey(o) === key);
    return (
      group === undefined &&
      conflictingFields.length > 0 &&
      conflictingFields.every((field) => fields[field]?.merge === "text") &&
      own.every(({ action, onStale }) => action === "update" && onStale === "notify")
    );
  });
}

/**
 * Puts the merged write into the slot of the stale one, as the next of its names, so that promises follow it and no
 * device that has the same write can commit it a second time. It never becomes a conflict, here or on disk.
 */
export function putMerged(draft: Draft, { write, instead, again }: Plan): void {
  const { clientId, rows } = draft.state;
  const put = [...(instead ? [[write, instead] as const] : []), ...again.map((m) => [m, m] as const)].map(
    ([before, after]) => {
      const clientTxId = before === write ? nextName(write.clientTxId) : before.clientTxId;
      const whole: Mutation = { ...after, clientTxId, keys: keysOf(after.operations), stage: { phase: "saving" } };
      return { before, mutation: serialized(whole, clientId, rows), over: expectedSlot(before) };
    },
  );
  for (const { before, mutation } of put)
    set<QueueState>(draft, { queue: withReplaced(draft.state.queue, before.clientTxId, mutation) });
  touch(
    draft,
    put.flatMap(({ mutation }) => mutation.keys),
  );
  emit(draft, { do: "persist", changes: [{ put: put.map(({ mutation, over }) => ({ mutation, over })), drop: [] }] });
}
