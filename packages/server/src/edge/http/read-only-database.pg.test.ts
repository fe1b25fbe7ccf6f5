import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { startApp } from "../../testing/app.ts";

const app = await startApp();
const { call } = app;

let made = 0;
const write = async () => (await call("POST", "/v1/models/slide", { json: { id: `s${++made}`, data: {} } })).status;
const readiness = async () => (await call("GET", "/readyz")).status;

/** New connections see the setting, so the open ones are ended. */
async function setReadOnly(on: boolean): Promise<void> {
  await app.sql(
    `do $$ begin execute format('alter database %I set default_transaction_read_only = ${on}', current_database()); end $$`,
  );
  await app.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
}

test("[O16] a database that was set to read only is away until it takes writes again", async () => {
  expect(await write()).toBe(200);
  expect(await readiness()).toBe(200);
  await setReadOnly(true);
  await until(async () => expect(await write()).toBe(503));
  await until(async () => expect(await readiness()).toBe(503));
  await setReadOnly(false);
  await until(async () => expect(await write()).toBe(200));
  await until(async () => expect(await readiness()).toBe(200));
});
