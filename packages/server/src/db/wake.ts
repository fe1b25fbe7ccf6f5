import { openNotices } from "./notices.ts";

const COALESCE_MS = 10;
/** As many as one notification carries. */
const MOST_MARKS = 500;

/** What has news in a world: its log (or its schema), or its claims. */
export type Subject = "log" | "claims";

/**
 * Hints between processes that a world has news. NOTIFY takes one lock for the whole database when its
 * transaction commits, so it never runs inside a write: hints go out on a connection of their own, together, at most every 10 ms.
 * A hint may be lost; polling the heads is the truth.
 */
export interface Wake {
  announce(subject: Subject, world: number): void;
  close(): Promise<void>;
}

export function openWake(url: string, heard: Readonly<Record<Subject, (world: number) => void>>): Wake {
  const notices = openNotices(url, {
    channel: "holdfast_wake",
    heard: (_, marks) => {
      for (const mark of marks.split(" "))
        if (mark.startsWith("c")) heard.claims(Number(mark.slice(1)));
        else heard.log(Number(mark));
    },
  });
  /** `7`: the log of world 7 has grown; `c7`: its claims changed. */
  const waiting = new Set<string>();
  let closed = false;
  let sending: NodeJS.Timeout | undefined;

  /** One hint at a time: what comes while one is on its way goes with the next. */
  async function flush(): Promise<void> {
    const marks = [...waiting].slice(0, MOST_MARKS);
    for (const mark of marks) waiting.delete(mark);
    await notices.send([marks.join(" ")]);
    sending = undefined;
    if (waiting.size > 0 && !closed) schedule();
  }

  function schedule(): void {
    sending ??= setTimeout(() => void flush(), COALESCE_MS).unref();
  }

  return {
    announce(subject, world) {
      waiting.add(subject === "claims" ? `c${world}` : `${world}`);
      schedule();
    },
    async close() {
      closed = true;
      clearTimeout(sending);
      await notices.close();
    },
  };
}
