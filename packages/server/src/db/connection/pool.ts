import pg from "pg";
import { Connection, type ConnectionConfig, hostsOf } from "./connection.ts";

/** The pool that everything but the commit lane asks. */
export type Database = pg.Pool;

/** Where the database is; a stalled statement, lock or open transaction ends after 5 s. */
export interface DatabaseOptions {
  readonly url: string;
  readonly maxConnections?: number;
  /** How long one waits for a connection. */
  readonly waitMs?: number;
  onError?(error: Error): void;
  /** Asked of each connection before it is used. */
  readonly verify?: ConnectionConfig["verify"];
}

const SESSION =
  "-c statement_timeout=5000 -c lock_timeout=5000 -c idle_in_transaction_session_timeout=5000 -c timezone=UTC";

/** Connection settings shared by the pool and by the connections that live outside it. */
export const session: pg.ClientConfig = { options: SESSION, types: { getTypeParser }, keepAlive: true };

/**
 * A pool for everything but the commit lane. An idle connection that breaks is reported, never thrown. Of several hosts it
 * stays with one as long as that answers and takes writes.
 */
export function createPool({ url, maxConnections = 10, waitMs = 1_000, onError, verify }: DatabaseOptions): pg.Pool {
  const hosts = hostsOf(url);
  let current = 0;
  class HostConnection extends Connection {
    constructor(config: pg.ClientConfig) {
      const host = current;
      super({ ...config, connectionString: hosts[host] as string, verify });
      this.once("failed", () => {
        if (current === host) current = (host + 1) % hosts.length;
      });
    }
  }
  const pool = new (hosts.length > 1 ? hostPool(hosts.length) : pg.Pool)({
    ...session,
    Client: HostConnection as never,
    max: maxConnections,
    connectionTimeoutMillis: waitMs,
  });
  pool.on("error", (error: Error & { client?: unknown }) => {
    // The pool hangs the whole connection on it, which nobody wants in a log.
    delete error.client;
    onError?.(error);
  });
  // One that takes no writes any more makes room for one that does.
  pool.on("release", (_error, client) => {
    if (client instanceof Connection && client.isReadOnly) void client.end();
  });
  return pool;
}

/** A pool that asks another host where one did not let it in. */
const hostPool = (hosts: number) =>
  class extends pg.Pool {
    // The pool itself hands over a callback, all others wait for the promise.
    override connect(): Promise<pg.PoolClient>;
    override connect(callback: Connected): void;
    override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
      const connected = this.#connect();
      if (!callback) return connected;
      connected.then(
        (client) => callback(undefined, client, client.release),
        (error: Error) => callback(error, undefined, () => {}),
      );
      return undefined;
    }

    async #connect(): Promise<pg.PoolClient> {
      for (let tried = 1; ; tried += 1)
        try {
          return await super.connect();
        } catch (error) {
          if (tried >= hosts || (error as Error).message === NONE_FREE) throw error;
        }
    }
  };

type Connected = Parameters<pg.Pool["connect"]>[0];

/** What the driver says when all connections are taken. */
export const NONE_FREE = "timeout exceeded when trying to connect";

/** Whether writes are taken now. */
export async function takesWrites(db: Database): Promise<boolean> {
  const { rows } = await db.query<{ on: boolean }>("select current_setting('transaction_read_only') = 'off' as on");
  return rows[0]?.on === true;
}

const BIGINT = 20;
const JSON_TEXT = 114;
const TIMESTAMPTZ = 1184;

/** Positions are numbers (below 2^53), json stays the text that was stored, times are ISO strings. */
function getTypeParser(oid: number, format?: "text" | "binary"): unknown {
  if (oid === BIGINT) return Number;
  if (oid === JSON_TEXT) return (text: string) => text;
  if (oid === TIMESTAMPTZ) return isoTime;
  return pg.types.getTypeParser(oid, format as "text");
}

/** `2026-01-02 03:04:05.6+00` → `2026-01-02T03:04:05.600Z` */
const isoTime = (text: string): string => new Date(`${text.replace(" ", "T").replace(/\+00$/, "Z")}`).toISOString();
