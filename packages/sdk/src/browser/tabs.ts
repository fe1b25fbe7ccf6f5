import type { TabMessage, Tabs } from "../engine/ports.ts";

/** A client that is alone with its store: it sends from the start and has nobody to tell. */
export const alone = (): Tabs => ({
  start: ({ lead }) => lead(),
  post: () => {},
  close: () => {},
});

/**
 * The tabs of one browser profile share a store. The one that holds the lock sends for all; the browser gives the
 * lock to the next when that tab goes. All of them may write, and tell each other what they put on disk and heard.
 */
export function browserTabs(store: string): Tabs {
  const name = `holdfast:${store}`;
  if (typeof navigator === "undefined" || !navigator.locks || typeof BroadcastChannel === "undefined") return alone();
  const channel = new BroadcastChannel(name);
  const closing = new AbortController();
  let release = () => {};

  return {
    start({ lead, heard }) {
      channel.onmessage = (event: MessageEvent<TabMessage>) => heard(event.data);
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      navigator.locks
        .request(name, { signal: closing.signal }, () => {
          lead();
          return held;
        })
        // Called off by `close` while it waited: then nobody wants it any more.
        .catch(() => {});
    },
    post: (message) => channel.postMessage(message),
    close() {
      closing.abort();
      release();
      channel.close();
    },
  };
}
