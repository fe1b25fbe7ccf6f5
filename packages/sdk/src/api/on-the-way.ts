import type { StoreApi } from "zustand/vanilla";
import type { MutationOperation } from "../core/mutation.ts";
import { onRecord } from "../core/queue.ts";
import type { ClientState } from "../core/state.ts";

const ON_THE_WAY: ReadonlySet<string> = new Set(["saving", "queued", "sending"]);

/** Resolves when none of such operations on a record is on its way: each has its answer, or waits for a person. */
export function arrived(
  store: StoreApi<ClientState>,
  key: string,
  isMeant: (operation: MutationOperation) => boolean,
): Promise<void> {
  const isDone = () =>
    !onRecord(store.getState().queue, key).some(
      ({ stage, operations }) => ON_THE_WAY.has(stage.phase) && operations.some(isMeant),
    );
  return new Promise((resolve) => {
    if (isDone()) return resolve();
    const off = store.subscribe(() => {
      if (!isDone()) return;
      off();
      resolve();
    });
  });
}
