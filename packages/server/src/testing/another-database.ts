import type pg from "pg";
import { onTestFinished } from "vitest";
import type { App } from "./app.ts";
import { connected, runSql } from "./run-sql.ts";
import { dropDatabase } from "./template-database.ts";

/** A database of a tenant's owner, on the same server as the app's. */
export interface AnotherDatabase {
  readonly name: string;
  /** As its owner would register it. */
  readonly connectionString: string;
  sql<T extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<T[]>;
  /** Ends all its connections, and accepts none. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  /** Makes a copy as of now. `restore` puts it in place of the database, or of another one. */
  backUp(restoreAs?: AnotherDatabase): Promise<Backup>;
  /** Drops it for ever. */
  drop(): Promise<void>;
}

export interface Backup {
  restore(): Promise<void>;
}

let made = 0;

/** An empty database, dropped at the end of the test. */
export async function anotherDatabase({ databaseUrl }: Pick<App, "databaseUrl">): Promise<AnotherDatabase> {
  const own = new URL(databaseUrl);
  const name = `${own.pathname.slice(1)}_${++made}`;
  const url = new URL(own);
  url.pathname = `/${name}`;
  const operator = await connected(own.href, { application_name: "test" });
  await operator.query(`create database ${name}`);
  onTestFinished(async () => {
    await operator.query(`drop database if exists ${name} with (force)`);
    await operator.end();
  });
  url.search = "?sslmode=disable";
  const goAway = async () => {
    await operator.query(`alter database ${name} allow_connections false`);
    // Waits until they have ended: a database in use cannot be copied.
    await operator.query("select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1", [name]);
  };
  let copies = 0;
  return {
    name,
    connectionString: url.href,
    sql: (text, values) => runSql(url.href, text, values),
    goAway,
    async comeBack() {
      await operator.query(`alter database ${name} allow_connections true`);
    },
    async backUp(restoreAs) {
      const copy = `${name}_backup_${++copies}`;
      await goAway();
      await operator.query(`create database ${copy} template ${name}`);
      await operator.query(`alter database ${name} allow_connections true`);
      onTestFinished(() => dropDatabase(own.href, copy));
      return {
        async restore() {
          const restored = restoreAs?.name ?? name;
          await operator.query(`drop database if exists ${restored} with (force)`);
          await operator.query(`create database ${restored} template ${copy}`);
        },
      };
    },
    drop: async () => void (await operator.query(`drop database ${name} with (force)`)),
  };
}
