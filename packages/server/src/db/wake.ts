import pg from "pg";
import { clientConfig } from "./pool.ts";

const CHANNEL = "holdfast_wake";
const COALESCE_MS = 10;
const RECONNECT_MS = 500;
const MOST_MARKS = 500;

/** What has news in a world: its log (or its schema), or its claims. */
export type Subject = "log" | "claims";

/**
 * Hints between processes that a world has news. NOTIFY takes one lock for the whole database when its
 * transaction commits, so it never runs inside a write: hints go out on this connection, together, at most every 10 ms.
 * A hint may be lost; polling the heads is the truth.
 */
export interface Wake {
  announce(subject: Subject, world: number): void;
  close(): Promise<void>;
}

export function openWake(url: string, heard: Readonly<Record<Subject, (world: number) => void>>): Wake {
  const self = Math.random().toString(36).slice(2, 10);
  /** `7`: the log of world 7 has grown; `c7`: its claims changed. */
  const waiting = new Set<string>();
  let client: pg.Client | undefined;
  let closed = false;
  let sending: NodeJS.Timeout | undefined;
  let again: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const next = new pg.Client({ ...clientConfig(url), options: "-c timezone=UTC" });
    next.on("error", lost);
    next.on("end", lost);
    next.on("notification", ({ payload }) => {
      const [from, ...marks] = (payload ?? "").split(" ");
      if (from === self) return;
      for (const mark of marks)
        if (mark.startsWith("c")) heard.claims(Number(mark.slice(1)));
        else heard.log(Number(mark));
    });
    try {
      await next.connect();
      await next.query(`listen ${CHANNEL}`);
      if (closed) await next.end();
      else client = next;
    } catch {
      // Not listening now: polling carries the news until the next attempt.
      lost();
    }
  }

  function lost(): void {
    client = undefined;
    if (!closed && again === undefined)
      again = setTimeout(() => {
        again = undefined;
        void connect();
      }, RECONNECT_MS).unref();
  }

  /** One hint at a time: what comes while one is on its way goes with the next. */
  async function flush(): Promise<void> {
    // 8 000 bytes is what a notification carries.
    const marks = [...waiting].slice(0, MOST_MARKS);
    for (const mark of marks) waiting.delete(mark);
    // A hint that is lost is made up for by polling.
    await client
      ?.query({ name: "wake", text: "select pg_notify($1, $2)", values: [CHANNEL, `${self} ${marks.join(" ")}`] })
      .catch(() => {});
    sending = undefined;
    if (waiting.size > 0 && !closed) schedule();
  }

  function schedule(): void {
    sending ??= setTimeout(() => void flush(), COALESCE_MS).unref();
  }

  void connect();
  return {
    announce(subject, world) {
      waiting.add(subject === "claims" ? `c${world}` : `${world}`);
      schedule();
    },
    async close() {
      closed = true;
      clearTimeout(sending);
      clearTimeout(again);
      await client?.end().catch(() => {});
    },
  };
}
