import type { QueueListener } from "../flows/claim-flows.ts";
import type { ReadQueue } from "../flows/follow-claims.ts";
import type { ClaimHub } from "./claim-hub.ts";

/** Follows one record's claims for a long poll. */
export async function listenToQueue(hub: ClaimHub, tenant: number, key: string): Promise<QueueListener> {
  let changed: ReadQueue | undefined;
  let wake: () => void = () => {};
  const watch = await hub.watch(tenant, (_, { queue }) => {
    changed = queue;
    wake();
  });
  watch.add(key);
  return {
    end() {
      watch.remove(key);
      watch.end();
    },
    async next(waitMs, signal) {
      if (!changed && !signal.aborted && waitMs > 0)
        await new Promise<void>((resolve) => {
          const done = () => {
            clearTimeout(timer);
            signal.removeEventListener("abort", done);
            resolve();
          };
          const timer = setTimeout(done, waitMs);
          signal.addEventListener("abort", done);
          wake = done;
        });
      const queue = changed;
      changed = undefined;
      return queue;
    },
  };
}
