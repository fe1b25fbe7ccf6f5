import type { Clock } from "../engine/ports.ts";
import { browserEvictionMarker } from "./eviction-marker.ts";
import { browserSignals } from "./signals.ts";
import { browserTabs } from "./tabs.ts";

/** What a client has of a browser, in a page or a worker. Where it stores its rows is up to the entry. */
export const browserPorts = (clock: Clock, persist: boolean | undefined) => ({
  tabs: (store: string) => browserTabs(store, clock),
  signals: browserSignals,
  evictionMarker: browserEvictionMarker,
  ...(mayPersist(persist) && { persist: () => navigator.storage.persist() }),
});

/** Not in workers, where the API is missing, and not in Firefox by default, because it shows a prompt. */
export function mayPersist(wanted: boolean | undefined): boolean {
  if (typeof navigator === "undefined" || typeof navigator.storage?.persist !== "function") return false;
  return wanted ?? !/\bFirefox\//.test(navigator.userAgent);
}
