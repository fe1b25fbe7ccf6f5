import pg from "pg";

/** Locks an endpoint's row, so that writers wait. */
export interface HeldRow {
  /** The waiting Postgres backends. */
  waiting(): Promise<readonly number[]>;
  /** Ends these backends, so that nothing is written for a killed process, and unlocks the row. */
  release(backends: readonly number[]): Promise<void>;
}

export async function holdRow(databaseUrl: string, endpoint: string): Promise<HeldRow> {
  const [holder, watcher] = [new pg.Client(databaseUrl), new pg.Client(databaseUrl)];
  await Promise.all([holder.connect(), watcher.connect()]);
  await holder.query("begin");
  await holder.query("select from holdfast.webhook_endpoint where id = $1 for update", [endpoint]);
  return {
    async waiting() {
      const { rows } = await watcher.query<{ pid: number }>(
        "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.map(({ pid }) => pid);
    },
    async release(backends) {
      await watcher.query("select pg_terminate_backend(pid) from unnest($1::int[]) pid", [backends]);
      await holder.query("rollback");
      await Promise.all([holder.end(), watcher.end()]);
    },
  };
}
