import pg from "pg";

/**
 * A database whose clock can be moved: names are looked up in a schema of ours before Postgres' own, so every
 * `clock_timestamp()` there is ours. It has to be created before the server connects.
 */
export interface MovableClock {
  /** Sets the clock's offset from the true time. */
  move(offsetMs: number): Promise<void>;
  close(): Promise<void>;
}

const CLOCKS = ["clock_timestamp", "statement_timestamp", "transaction_timestamp", "now"];

export async function movableClock(databaseUrl: string): Promise<MovableClock> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const name = new URL(databaseUrl).pathname.slice(1);
  await client.query("create schema moved; create table moved.clock (ms float8); insert into moved.clock values (0)");
  for (const clock of CLOCKS)
    await client.query(
      `create function moved.${clock}() returns timestamptz language sql volatile
       as 'select pg_catalog.${clock}() + (select make_interval(secs => ms / 1000) from moved.clock)'`,
    );
  await client.query(`alter database ${name} set search_path = moved, pg_catalog, public`);
  return {
    move: async (offsetMs) => void (await client.query("update moved.clock set ms = $1", [offsetMs])),
    close: () => client.end(),
  };
}
