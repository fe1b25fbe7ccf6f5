import type pg from "pg";
import { onTestFinished } from "vitest";
import type { App } from "./app.ts";
import { connected, runSql } from "./run-sql.ts";

/** A database of a tenant's owner, on the same server as the app's. */
export interface AnotherDatabase {
  readonly name: string;
  /** As its owner would register it. */
  readonly connectionString: string;
  sql<T extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<T[]>;
  /** Ends all its connections, and accepts none. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
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
    await operator.query(`drop database ${name} with (force)`);
    await operator.end();
  });
  url.search = "?sslmode=disable";
  return {
    name,
    connectionString: url.href,
    sql: (text, values) => runSql(url.href, text, values),
    async goAway() {
      await operator.query(`alter database ${name} allow_connections false`);
      await operator.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
    },
    async comeBack() {
      await operator.query(`alter database ${name} allow_connections true`);
    },
  };
}
