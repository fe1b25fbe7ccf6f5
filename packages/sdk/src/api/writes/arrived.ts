import type { StoreApi } from "zustand/vanilla";
import { blockedNames } from "../../core/queue/blocked.ts";
import type { MutationOperation } from "../../core/queue/mutation.ts";
import { onRecord } from "../../core/queue/queue.ts";
import type { ClientState } from "../../core/state.ts";

const ON_THE_WAY: ReadonlySet<string> = new Set(["saving", "queued", "sending"]);

/**
 * Resolves when each matching operation on a record has an outcome, waits for a person, or depends on a write that
 * does.
 */
export function arrived(
  store: StoreApi<ClientState>,
  key: string,
  isMeant: (operation: MutationOperation) => boolean,
): Promise<void> {
  function isDone(): boolean {
    const state = store.getState();
    const { queue } = state;
    const meant = onRecord(queue, key).filter(
      ({ stage, operations }) => ON_THE_WAY.has(stage.phase) && operations.some(isMeant),
    );
    if (meant.length === 0) return true;
    const blocked = blockedNames(state);
    return meant.every(({ clientTxId }) => blocked.has(clientTxId));
  }
  return new Promise((resolve) => {
    if (isDone()) return resolve();
    const off = store.subscribe(() => {
      if (!isDone()) return;
      off();
      resolve();
    });
  });
}
