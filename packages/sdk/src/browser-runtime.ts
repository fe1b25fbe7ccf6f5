import { browserEvictionMarker } from "./browser/eviction-marker.ts";
import { browserSignals } from "./browser/signals.ts";
import { browserTabs } from "./browser/tabs.ts";
import { openRuntime as open, type Runtime, type RuntimeDeps } from "./runtime.ts";

/** Not in workers, where the API is missing, and not in Firefox by default, because it shows a prompt. */
export function mayPersist(wanted: boolean | undefined): boolean {
  if (typeof navigator === "undefined" || typeof navigator.storage?.persist !== "function") return false;
  return wanted ?? !/\bFirefox\//.test(navigator.userAgent);
}

/** Creates the runtime of a client in a browser. */
export const openRuntime = (deps: RuntimeDeps): Runtime =>
  open(
    {
      // A separate chunk: it is large, and does not change with this package.
      storage: async (name) => (await import("./storage/indexeddb.ts")).indexedDbStorage({ name }),
      tabs: (store) => browserTabs(store, deps.clock),
      signals: browserSignals,
      evictionMarker: browserEvictionMarker,
      ...(mayPersist(deps.settings.persist) && { persist: () => navigator.storage.persist() }),
    },
    deps,
  );
