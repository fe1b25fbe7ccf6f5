import pg from "pg";

/** The pool that everything but the commit lane asks. */
export type Database = pg.Pool;

/** Where the database is; a stalled statement, lock or open transaction ends after 5 s. */
export interface DatabaseOptions {
  readonly url: string;
  readonly maxConnections?: number;
  /** How long one waits for a connection. */
  readonly waitMs?: number;
  onError?(error: Error): void;
}

const SESSION =
  "-c statement_timeout=5000 -c lock_timeout=5000 -c idle_in_transaction_session_timeout=5000 -c timezone=UTC";

/** Connection settings shared by the pool and by the connections that live outside it. */
export const clientConfig = (url: string): pg.ClientConfig => ({
  connectionString: url,
  options: SESSION,
  types: { getTypeParser },
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
});

/** A pool for everything but the commit lane. An idle connection that breaks is reported, never thrown. */
export function createPool({ url, maxConnections = 10, waitMs = 1_000, onError }: DatabaseOptions): pg.Pool {
  const pool = new pg.Pool({ ...clientConfig(url), max: maxConnections, connectionTimeoutMillis: waitMs });
  pool.on("error", (error: Error & { client?: unknown }) => {
    // The pool hangs the whole connection on it, which nobody wants in a log.
    delete error.client;
    onError?.(error);
  });
  // A connection that breaks while somebody holds it rejects the query; this only keeps Node from exiting.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
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
