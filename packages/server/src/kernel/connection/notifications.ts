import type pg from "pg";
import { type Connection, connectTo } from "./connection.ts";
import { session } from "./pool.ts";

/** Short messages between processes, over NOTIFY on a dedicated connection. They may be lost, but arrive in order. */
export interface Notices {
  /** The name of this process towards the others. */
  readonly self: string;
  /** Each text has to fit into a notification. Resolves when they were sent, or lost. */
  send(texts: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface NoticesOptions {
  readonly channel: string;
  /** A message from another process, never from this one. */
  received(from: string, text: string): void;
  /** Messages are received from now on. Earlier ones were missed. */
  opened?(): void;
}

// Without this setting, NOTIFY would wait for its commit to be flushed to disk. Messages may be lost, so that is
// unnecessary.
const SESSION = "-c timezone=UTC -c synchronous_commit=off";
const RECONNECT_MS = 500;
/** The connection mostly listens, so only a probe shows that the server is gone. */
const PROBE_MS = 2_500;

export function openNotices(url: string, { channel, received, opened }: NoticesOptions): Notices {
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
      // Not connected: messages are lost until the next attempt.
      if (!closed) again = setTimeout(() => void connect(), RECONNECT_MS).unref();
      return;
    }
    // Runs once per connection, whichever event reports the loss first.
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
      // An abandoned connection may still deliver messages, which the next one delivers too.
      if (from !== self && !closed && !isLost) received(from, payload.slice(space + 1));
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
    // No response may mean a dead connection. The next one reports `opened`.
    await through?.client.query(query).catch(through.lost);
    isAsking = false;
  }

  /** The connection itself watches for the reply's timeout. */
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
