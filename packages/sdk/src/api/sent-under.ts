import type { StoreApi } from "zustand/vanilla";
import { onRecord } from "../core/queue.ts";
import type { ClientState } from "../core/state.ts";

const ON_THE_WAY: ReadonlySet<string> = new Set(["saving", "queued", "sending"]);

/** Resolves when no write that was made under a claim is still on its way: each has its answer, or waits for a person. */
export function sentUnder(store: StoreApi<ClientState>, key: string, claimId: string): Promise<void> {
  const isDone = () =>
    !onRecord(store.getState().queue, key).some(
      ({ stage, operations }) => ON_THE_WAY.has(stage.phase) && operations.some(({ claim }) => claim === claimId),
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
