import type { Signals } from "../engine/ports.ts";

/** Where nobody tells whether there is a network: it is there until a request fails. */
export const noSignals = (): Signals => ({ start: () => {}, close: () => {} });

/** A timer that comes this much too late has slept: so did every socket of the page. */
const BEAT_MS = 10_000;
const SLEPT_MS = 3 * BEAT_MS;

/**
 * What the browser notices: going offline and online, coming back to the front, waking up. A worker hears of the network
 * alone; what only a page can hear simply never comes.
 */
export function browserSignals(): Signals {
  if (typeof addEventListener !== "function") return noSignals();
  const closing = new AbortController();
  let beat: ReturnType<typeof setInterval> | undefined;
  return {
    start({ network, woke, hidden }) {
      const { signal } = closing;
      // An open socket stays open and silent when the browser goes offline, so these events are all there is to go by.
      addEventListener("offline", () => network(false), { signal });
      addEventListener("online", () => network(true), { signal });
      addEventListener("focus", woke, { signal });
      addEventListener("pageshow", woke, { signal });
      addEventListener("pagehide", hidden, { signal });
      if (typeof document !== "undefined") {
        document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && woke(), {
          signal,
        });
        // After the browser froze the page, also where it stays in the background.
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
