import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { startApp } from "../../testing/app.ts";
import { holdClock } from "../../testing/held-clock.ts";
import { runSql } from "../../testing/run-sql.ts";

const app = await startApp({ database: { waitMs: 1_000 } });
const { call } = app;
/** An answer is kept for a second. */
const statusOf = async () => (await call("GET", "/readyz")).status;

test("[O7] livez and readyz need no token", async () => {
  for (const path of ["/livez", "/readyz", "/api/livez", "/api/readyz"])
    expect((await call("GET", path, { token: null })).body).toEqual({
      object: "health",
      status: path.endsWith("livez") ? "live" : "ready",
    });
});

test("[O7] [C14] when all database connections are taken, requests get 503 with Retry-After, and /livez still answers", async () => {
  const holder = await app.hold("lock table holdfast.record in access exclusive mode");
  // Ten take all connections and wait for the lock; the others find none free.
  const reads = Array.from({ length: 14 }, (_, i) => call("GET", `/v1/models/slide/s${i}`));
  const first = await Promise.race(reads);
  expect(first.status).toBe(503);
  expect(first.headers["retry-after"]).toBe("1");
  const [live, ready] = await Promise.all([call("GET", "/livez"), call("GET", "/readyz")]);
  expect(live.status).toBe(200);
  expect(ready.status).toBe(503);
  await holder.release();
  // If the machine stalls, the ten also wait too long for the lock.
  for (const { status } of await Promise.all(reads)) expect([404, 503]).toContain(status);
  await until(async () => (await call("GET", "/v1/models/slide/s0")).status === 404);
  await until(async () => expect(await statusOf()).toBe(200));
  expect((await call("POST", "/v1/models/slide", { json: { id: "after", data: {} } })).status).toBe(200);
});

test("[O13] without database connections for reads, commits still succeed; /readyz fails only if they do not", async () => {
  const full = await startApp({ database: { connections: 1, authConnections: 1, waitMs: 300 } });
  // Nothing was committed yet. The connection for it is opened all the same.
  await until(async () => {
    const [row] = await full.sql(
      "select from pg_stat_activity where datname = current_database() and query like '%holdfast.log_epoch%' and pid <> pg_backend_pid()",
    );
    return row !== undefined;
  });
  // From here on no connection can be had, as when others have them all.
  const allow = (yes: boolean) =>
    elsewhere(full.databaseUrl, (name) => `alter database ${name} allow_connections ${yes}`);
  await allow(false);
  const ready = async () => (await full.call("GET", "/readyz")).status;
  expect(await ready()).toBe(200);
  expect((await full.call("POST", "/v1/models/slide", { json: { id: "during", data: {} } })).status).toBe(200);
  // An answer is kept for a second: this one asks the connection that commits.
  const clock = holdClock();
  clock.pass(1_100);
  expect(await ready()).toBe(200);
  await full.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query = 'select 1'",
  );
  const later = async () => {
    clock.pass(1_100);
    return await ready();
  };
  await until(async () => expect(await later()).toBe(503));
  await allow(true);
  await until(async () => expect(await later()).toBe(200));
});

/** Runs a statement about a database on another one of the same Postgres. */
async function elsewhere(databaseUrl: string, statement: (name: string) => string): Promise<void> {
  const url = new URL(databaseUrl);
  const name = url.pathname.slice(1);
  url.pathname = "/postgres";
  await runSql(url.href, statement(name));
}

test("[O7] a database that lacks a migration is not ready", async () => {
  await app.sql("update holdfast.migration set name = 'away' where name = '0001_initial.sql'");
  await until(async () => expect(await statusOf()).toBe(503));
  await app.sql("update holdfast.migration set name = '0001_initial.sql' where name = 'away'");
  await until(async () => expect(await statusOf()).toBe(200));
});
