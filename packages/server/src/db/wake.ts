import { openNotices } from "./notices.ts";

const COALESCE_MS = 10;
/** As many as one notification carries. */
const MOST_WORLDS = 500;

/**
 * Hints between processes that a world's log has grown. NOTIFY takes one lock for the whole database when its
 * transaction commits, so it never runs inside a write: hints go out on a connection of their own, together, at most every 10 ms.
 * A hint may be lost; polling the heads is the truth.
 */
export interface Wake {
  announce(world: number): void;
  close(): Promise<void>;
}

export function openWake(url: string, heard: (world: number) => void): Wake {
  const notices = openNotices(url, {
    channel: "holdfast_wake",
    heard: (_, worlds) => {
      for (const world of worlds.split(" ")) heard(Number(world));
    },
  });
  const waiting = new Set<number>();
  let closed = false;
  let sending: NodeJS.Timeout | undefined;

  /** One hint at a time: what comes while one is on its way goes with the next. */
  async function flush(): Promise<void> {
    const worlds = [...waiting].slice(0, MOST_WORLDS);
    for (const world of worlds) waiting.delete(world);
    await notices.send([worlds.join(" ")]);
    sending = undefined;
    if (waiting.size > 0 && !closed) schedule();
  }

  function schedule(): void {
    sending ??= setTimeout(() => void flush(), COALESCE_MS).unref();
  }

  return {
    announce(world) {
      waiting.add(world);
      schedule();
    },
    async close() {
      closed = true;
      clearTimeout(sending);
      await notices.close();
    },
  };
}
