import type { FastifyBaseLogger } from "fastify";
import type { Connection, ConnectionConfig } from "../kernel/connection/connection.ts";
import { createPool, type Database } from "../kernel/connection/pool.ts";
import { openWake, type Wake } from "../kernel/connection/wake.ts";
import { followLogEpoch } from "../kernel/log/flows/log-epoch.ts";
import type { Part } from "../kernel/part.ts";
import type { DatabaseSettings, Report } from "../server-options.ts";

export interface ConnectionsDeps {
  readonly url: string;
  readonly settings: DatabaseSettings;
  readonly logger: FastifyBaseLogger;
  readonly report: Report;
  /** The logs were replaced: everything that was read from them is invalid. */
  replaced(): void;
}

/** The connections to the database. */
export interface Connections extends Required<Pick<Part, "close">> {
  readonly url: string;
  readonly pool: Database;
  /** For reads of the callers' own tables, which wait while one is locked. */
  readonly tables: Database;
  /** Hints from and to other processes. */
  readonly wake: Wake;
  /** Runs on each new connection before it is used: compares the database with the one that wrote the logs. */
  readonly verify: NonNullable<ConnectionConfig["verify"]>;
  /** The same on a connection that is open: a dump may have been loaded meanwhile. Rejects if the database is away. */
  check(): Promise<void>;
}

export function openConnections({ url, settings, logger, report, replaced }: ConnectionsDeps): Connections {
  const { verify, ask } = followLogEpoch({
    changed: replaced,
    renewed: (origin) =>
      logger.warn(
        { event: "logs_renewed", ...origin },
        "The database was restored or replaced: all logs have new ids, and clients read them again.",
      ),
    unknown: () =>
      logger.warn(
        { event: "database_origin_unknown" },
        "The database does not reveal its system identifier and timeline: run `holdfast log renew` after a restore or failover.",
      ),
  });
  const { connections, waitMs } = settings;
  const settingsOfAll = { url, waitMs, verify, onError: report("database_connection_lost") };
  const pool = createPool({ ...settingsOfAll, maxConnections: connections });
  const tables = createPool({ ...settingsOfAll, maxConnections: tableConnections(connections), lockMs: TABLE_LOCK_MS });
  const wake = openWake(url);
  const askEpoch = () => void ask(pool).catch(report("log_epoch_failed"));
  wake.subscribe({ renewed: askEpoch, opened: askEpoch });
  return {
    ...{ url, pool, tables, wake, verify },
    async check() {
      const client = await pool.connect();
      let failure: Error | undefined;
      try {
        await verify(client as unknown as Connection);
      } catch (error) {
        failure = error as Error;
        throw error;
      } finally {
        client.release(failure);
      }
    },
    async close() {
      await wake.close();
      await Promise.all([pool.end(), tables.end()]);
    },
  };
}

/** How long a read waits for a table that is locked. */
const TABLE_LOCK_MS = 500;

export const tableConnections = (connections: number): number => Math.max(2, Math.floor(0.6 * connections));
