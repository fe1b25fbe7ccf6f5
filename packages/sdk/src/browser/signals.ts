import type { Signals } from "../engine/ports.ts";

/** For platforms without network events: the network counts as available until a request fails. */
export const noSignals = (): Signals => ({ start: () => {}, close: () => {} });

/** If a timer fires this late, the machine has slept, and the page's sockets are dead. */
const BEAT_MS = 10_000;
const SLEPT_MS = 3 * BEAT_MS;

/** Browser events: offline and online, visible again, and wake-up. A worker gets only the network events. */
export function browserSignals(): Signals {
  if (typeof addEventListener !== "function") return noSignals();
  const closing = new AbortController();
  let beat: ReturnType<typeof setInterval> | undefined;
  return {
    start({ network, woke, hidden }) {
      const { signal } = closing;
      // An open socket stays open and silent when the browser goes offline, so only these events show it.
      addEventListener("offline", () => network(false), { signal });
      addEventListener("online", () => network(true), { signal });
      addEventListener("focus", woke, { signal });
      addEventListener("pageshow", woke, { signal });
      addEventListener("pagehide", hidden, { signal });
      if (typeof document !== "undefined") {
        document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && woke(), {
          signal,
        });
        // Fires after a freeze, even if the page stays in the background.
        document.addEventListener("resume", woke, { signal });
      }
      let last = Date.now();
      beat = setInterval(() => {
        if (Date.now() - last > SLEPT_MS) woke();
        last = Date.now();
      }, BEAT_MS);
      if (!navigator.onLine) network(false);
    },
    close() {
      closing.abort();
      clearInterval(beat);
    },
  };
}
