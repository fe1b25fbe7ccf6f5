import pg from "pg";
import { Connection, type ConnectionConfig, hostsOf } from "./connection.ts";

/** The pool for everything except the commit lanes. */
export type Database = pg.Pool;

/** How to reach the database. A stalled statement, lock or open transaction ends after 5 s. */
export interface DatabaseOptions {
  readonly url: string;
  readonly maxConnections?: number;
  /** How long to wait for a free connection. */
  readonly waitMs?: number;
  /** How long to wait for a lock. */
  readonly lockMs?: number;
  onError?(error: Error): void;
  /** Runs on each new connection before it is used. */
  readonly verify?: ConnectionConfig["verify"];
}

/** A database may have another time zone, and another order of day and month. */
const SESSION =
  "-c statement_timeout=5000 -c lock_timeout=5000 -c idle_in_transaction_session_timeout=5000 -c timezone=UTC -c datestyle=ISO,MDY";

/** Settings shared by the pool and by connections outside it. */
export const session: pg.ClientConfig = { options: SESSION, types: { getTypeParser }, keepAlive: true };

/**
 * A pool for everything except the commit lanes. A broken idle connection is reported, never thrown. Of several hosts
 * it uses one for as long as that host responds and accepts writes.
 */
export function createPool({
  url,
  maxConnections = 10,
  waitMs = 1_000,
  lockMs,
  onError,
  verify,
}: DatabaseOptions): pg.Pool {
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
    ...(lockMs !== undefined && { options: `${SESSION} -c lock_timeout=${lockMs}` }),
    Client: HostConnection as never,
    max: maxConnections,
    connectionTimeoutMillis: waitMs,
  });
  pool.on("error", (error: Error & { client?: unknown }) => {
    // The pool attaches the whole connection to the error, which would end up in the log.
    delete error.client;
    onError?.(error);
  });
  // A connection that no longer accepts writes makes room for one that does.
  pool.on("release", (_error, client) => {
    if (client instanceof Connection && client.isReadOnly) void client.end();
  });
  return pool;
}

/** A pool that tries the next host if one refuses the connection. */
const hostPool = (hosts: number) =>
  class extends pg.Pool {
    // The pool itself passes a callback, everything else uses the promise.
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

/** The driver's message when all connections are in use. */
export const NONE_FREE = "timeout exceeded when trying to connect";

/** Whether the database accepts writes now. */
export async function takesWrites(db: Database): Promise<boolean> {
  const { rows } = await db.query<{ on: boolean }>("select current_setting('transaction_read_only') = 'off' as on");
  return rows[0]?.on === true;
}

const BIGINT = 20;
const JSON_TEXT = 114;
const TIMESTAMPTZ = 1184;

/** Positions become numbers (below 2^53), json stays text, times become ISO strings. */
function getTypeParser(oid: number, format?: "text" | "binary"): unknown {
  if (oid === BIGINT) return Number;
  if (oid === JSON_TEXT) return (text: string) => text;
  if (oid === TIMESTAMPTZ) return isoTime;
  return pg.types.getTypeParser(oid, format as "text");
}

/** `2026-01-02 03:04:05.6+00` → `2026-01-02T03:04:05.600Z` */
const isoTime = (text: string): string => new Date(`${text.replace(" ", "T").replace(/\+00$/, "Z")}`).toISOString();
