import type { StoreApi } from "zustand/vanilla";
import { blockedNames } from "../../core/queue/bulk.ts";
import type { MutationOperation } from "../../core/queue/mutation.ts";
import { onRecord } from "../../core/queue/queue.ts";
import type { ClientState } from "../../core/state.ts";

const ON_THE_WAY: ReadonlySet<string> = new Set(["saving", "queued", "sending"]);

/** Resolves when none of such operations on a record is on its way: each has its answer, or waits for a person, itself or what it builds on. */
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
