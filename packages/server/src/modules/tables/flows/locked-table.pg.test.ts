import { beforeAll, expect, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import { startWithTables } from "../../../testing/attached-tables.ts";

const { app, db, attach, post } = await startWithTables();
let model = "";

beforeAll(async () => {
  await db.query(`create table public.locked (id text primary key, title text);
    insert into public.locked select 'l' || n, 'Title ' || n from generate_series(1, 5) n;
    create table public.free (id text primary key, title text); insert into public.free values ('f1', 'Free')`);
  ({ model } = await attach("public.locked", { title: {} }));
});

const waiting = async () => {
  const [{ count = 0 } = {}] = await app.sql<{ count: number }>(
    "select count(*)::int as count from pg_locks where relation = 'public.locked'::regclass and not granted",
  );
  return count;
};

test("[DS92] [DS138] while a table is locked, its reads take a few connections and are refused; the log, other models and other tenants are read", async () => {
  const lock = await app.hold("lock table public.locked in access exclusive mode");
  const paths = [`/v1/models/${model}`, `/v1/models/${model}/l1`, `/v1/models/${model}/l9/history`, "/v1/snapshot"];
  const asked = Array.from({ length: 60 }, (_, i) => app.call("GET", paths[i % paths.length] as string));
  await until(async () => expect(await waiting()).toBeGreaterThan(0));
  const token = app.keys.other;
  const others = await Promise.all([
    app.call("GET", "/v1/log"),
    app.call("GET", "/v1/models/slide"),
    app.call("GET", "/v1/models/slide", { token }),
    app.call("GET", "/v1/snapshot", { token }),
    app.call("GET", "/v1/log", { token }),
  ]);
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(await waiting()).toBeLessThanOrEqual(4);
  const refused = await Promise.all(asked);
  for (const { status, body, headers } of refused) {
    expect([status, body.code]).toEqual([503, "overloaded"]);
    expect(headers["retry-after"]).toBe("1");
  }
  expect(refused[0]?.body.message).toMatch(/locked by another transaction/);
  await lock.release();
  for (const path of paths.filter((one) => !one.includes("history")))
    await until(async () => expect((await app.call("GET", path)).status).toBe(200));
});

test("[DS92] [DS138] reads of another table of the same tenant go on", async () => {
  const { model: free } = await attach("public.free", { title: {} });
  const lock = await app.hold("lock table public.locked in access exclusive mode");
  expect((await app.call("GET", `/v1/models/${model}`)).status).toBe(503);
  expect((await app.call("GET", `/v1/models/${free}/f1`)).status).toBe(200);
  expect((await post(`/v1/models/${free}/query`, {})).status).toBe(200);
  expect((await app.call("GET", "/v1/snapshot")).status).toBe(503);
  expect((await app.call("GET", `/v1/snapshot?model=${free}`)).status).toBe(200);
  await lock.release();
});
