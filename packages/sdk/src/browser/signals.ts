import type { Signals } from "../engine/ports.ts";

/** Where nobody tells whether there is a network: it is there until a request fails. */
export const noSignals = (): Signals => ({ start: () => {}, close: () => {} });

/** A timer that comes this much too late has slept: so did every socket of the page. */
const BEAT_MS = 10_000;
const SLEPT_MS = 3 * BEAT_MS;

/** What the browser notices: going offline and online, coming back to the front, waking up. */
export function browserSignals(): Signals {
  if (typeof window === "undefined") return noSignals();
  const closing = new AbortController();
  let beat: ReturnType<typeof setInterval> | undefined;
  return {
    start({ network, woke, hidden }) {
      const { signal } = closing;
      // An open socket stays open and silent when the browser goes offline, so these events are all there is to go by.
      window.addEventListener("offline", () => network(false), { signal });
      window.addEventListener("online", () => network(true), { signal });
      window.addEventListener("focus", woke, { signal });
      window.addEventListener("pageshow", woke, { signal });
      window.addEventListener("pagehide", hidden, { signal });
      document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && woke(), { signal });
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
