import type { Queue } from "../core/queue/queue.ts";
import { pendingOf, type SyncStatus, statusOf } from "../core/select.ts";
import type { ClientState } from "../core/state.ts";
import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import type { Lazy } from "./lazy.ts";
import { sameFields } from "./same.ts";
import type { PendingMutation, SyncClient } from "./sync-client.ts";
import type { DecisionItems } from "./writes/decision-items.ts";
import type { SeenRecords } from "./writes/seen-before.ts";
import type { WriteDeps } from "./writes/write.ts";

export interface ShownStatus extends Pick<SyncClient<ModelSchema>, "status" | "pending" | "conflicts" | "attention"> {
  /** Called after every step, before the app's listeners. */
  note(): void;
}

const NONE: readonly never[] = [];

/**
 * What the client shows of its connection and its queue. Each result stays the same object until its content changes,
 * because views compare by identity.
 */
export function shownStatus(
  shown: () => ClientState,
  runtime: Lazy<{ decisionItems(deps: WriteDeps): DecisionItems; readonly seen: SeenRecords }>,
  deps: WriteDeps,
): ShownStatus {
  let status: SyncStatus | undefined;
  let pending: readonly PendingMutation[] = NONE;
  let pendingQueue: Queue | undefined;
  let items: DecisionItems | undefined;
  let { erased } = shown();
  const decisionItems = () => {
    items ??= runtime.now()?.decisionItems(deps);
    return items;
  };
  /** What the app was given last must not keep the values of records that were erased since. */
  function renew(state: ClientState): void {
    if (state.erased === erased) return;
    runtime.now()?.seen.forget([...state.erased.keys()]);
    erased = state.erased;
    if (pendingQueue) given.pending();
    items?.conflicts(state);
    items?.attention(state);
  }
  const given: ShownStatus = {
    note: () => {
      const state = shown();
      items?.note(state);
      renew(state);
    },
    status: () => {
      status = sameFields(status, statusOf(shown()));
      return status;
    },
    pending: () => {
      const state = shown();
      if (pendingQueue !== state.queue) pending = pendingOf(state);
      pendingQueue = state.queue;
      return pending;
    },
    conflicts: () => decisionItems()?.conflicts(shown()) ?? NONE,
    attention: () => decisionItems()?.attention(shown()) ?? NONE,
  };
  return given;
}
