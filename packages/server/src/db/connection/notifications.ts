import type pg from "pg";
import { type Connection, connectTo } from "./connection.ts";
import { session } from "./pool.ts";

/** Short texts between processes, over NOTIFY on a connection of their own. They may be lost, and come in order. */
export interface Notices {
  /** What this process is called by those who hear it. */
  readonly self: string;
  /** Each a little shorter than a notification. Resolves when they were told, or lost. */
  send(texts: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface NoticesOptions {
  readonly channel: string;
  /** Another process's text: never our own. */
  heard(from: string, text: string): void;
  /** From now on texts are heard. What came before was missed. */
  opened?(): void;
}

// A notification waits for its transaction to be on disk, unless it is told that it may be lost.
const SESSION = "-c timezone=UTC -c synchronous_commit=off";
const RECONNECT_MS = 500;
/** It mostly listens, and would not notice by itself that nobody is there any more. */
const PROBE_MS = 2_500;

export function openNotices(url: string, { channel, heard, opened }: NoticesOptions): Notices {
  const self = Math.random().toString(36).slice(2, 10);
  let current: { readonly client: Connection; lost(): void } | undefined;
  let closed = false;
  let again: NodeJS.Timeout | undefined;
  let isAsking = false;

  async function connect(): Promise<void> {
    let next: Connection;
    try {
      next = await connectTo(url, { ...session, options: SESSION });
    } catch {
      // Not listening now: what is told is lost until the next attempt.
      if (!closed) again = setTimeout(() => void connect(), RECONNECT_MS).unref();
      return;
    }
    // Once for each connection, whichever of its ends is noticed first.
    let isLost = false;
    const lost = () => {
      if (isLost) return;
      isLost = true;
      if (current?.client === next) current = undefined;
      next.end().catch(() => {});
      if (!closed) again = setTimeout(() => void connect(), RECONNECT_MS).unref();
    };
    next.on("error", lost);
    next.on("end", lost);
    next.on("notification", ({ payload = "" }) => {
      const space = payload.indexOf(" ");
      const from = payload.slice(0, space);
      // A connection that was given up may still have something to say: the next one says it, too.
      if (from !== self && !closed && !isLost) heard(from, payload.slice(space + 1));
    });
    try {
      await next.query(`listen ${channel}`);
      if (closed) return await next.end();
      current = { client: next, lost };
      opened?.();
    } catch {
      lost();
    }
  }

  async function ask(query: string | pg.QueryConfig): Promise<void> {
    const through = current;
    isAsking = true;
    // Who does not answer may be dead: the next connection says `opened`.
    await through?.client.query(query).catch(through.lost);
    isAsking = false;
  }

  /** Whether an answer comes the connection sees to. */
  const probe = () => (isAsking ? undefined : ask(""));
  const probing = setInterval(() => void probe(), PROBE_MS).unref();
  void connect();
  return {
    self,
    async send(texts) {
      const values = [channel, texts.map((text) => `${self} ${text}`)];
      const text = "select pg_notify($1, text) from unnest($2::text[]) as text";
      await ask({ name: `notices ${channel}`, text, values });
    },
    async close() {
      closed = true;
      clearTimeout(again);
      clearInterval(probing);
      await current?.client.end().catch(() => {});
    },
  };
}
