import type { Usage } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { prune } from "../../kernel/log/flows/prune.ts";
import { createUsageCounter } from "../../kernel/organizations/flows/count-usage.ts";
import { dayOf } from "../../kernel/organizations/rules/usage-period.ts";
import { startUsageWriter } from "../../kernel/workers/usage-writer.ts";
import { startApp } from "../../testing/app.ts";

const app = await startApp();
const { call } = app;
const tenant = app.tenants.live;
const usage = async (search = "", token = app.keys.live) => {
  const { status, body } = await call("GET", `/v1/usage${search}`, { token });
  expect(status).toBe(200);
  expect(body.code).toBe(undefined);
  return body.data as Usage[];
};
/** Of all days together: a test may run at midnight. */
const total = async (name: string, token = app.keys.live) =>
  (await usage("", token)).filter(({ event_name }) => event_name === name).reduce((sum, { count }) => sum + count, 0);
const totals = async (token = app.keys.live) => ({
  commits: await total("commits", token),
  operations: await total("operations", token),
  reads: await total("reads", token),
});
const slides = "/v1/models/slide";

test("[G15] commits, their operations and reads are counted, in their own tenant", async () => {
  expect(await totals()).toEqual({ commits: 0, operations: 0, reads: 0 });
  const { body } = await call("POST", slides, { json: { id: "a", data: { title: "a" } }, key: "k1" });
  await call("POST", "/v1/commits", {
    json: {
      operations: [
        { action: "create", model: "slide", id: "b", data: {} },
        { action: "update", model: "slide", id: "a", data: { title: "b" } },
        { action: "delete", model: "slide", id: "none" },
      ],
    },
  });
  expect(await totals()).toEqual({ commits: 2, operations: 4, reads: 0 });
  // A replay, a refused commit and a held one do not count. A commit that changes nothing counts.
  await call("POST", slides, { json: { id: "a", data: { title: "a" } }, key: "k1" });
  await call("POST", slides, { json: { id: "a", data: { title: "other" } } });
  await call("PATCH", `${slides}/a`, { json: { data: { nothing: 1 } } });
  const held = await call("PATCH", `${slides}/a`, {
    json: { data: { title: "c" }, readAt: body.lastSyncId, onStale: "notify" },
  });
  expect(held.headers["holdfast-held"]).toBe("true");
  expect(await totals()).toEqual({ commits: 2, operations: 4, reads: 0 });
  await call("PATCH", `${slides}/a`, { json: { data: { title: "b" } } });
  await call("POST", "/v1/commits/bulk", {
    json: {
      commits: ["x", "y", "x"].map((id, i) => ({
        clientTxId: `bulk-${i}`,
        operations: [{ action: "create", model: "slide", id, data: { order: i } }],
      })),
    },
  });
  expect(await totals()).toEqual({ commits: 5, operations: 7, reads: 0 });
  for (const path of [`${slides}/a`, slides, `${slides}/a/history`, "/v1/log", "/v1/snapshot"]) await call("GET", path);
  expect(await totals()).toEqual({ commits: 5, operations: 7, reads: 5 });
  await call("POST", `${slides}/query`, { json: {} });
  expect(await totals()).toEqual({ commits: 5, operations: 7, reads: 6 });
  await call("POST", `${slides}/query`, { json: { limit: 0 } });
  for (const path of [`${slides}/none`, `${slides}?limit=0`, "/v1/schema", "/v1/commits/bulk-0", "/v1/datasources"])
    await call("GET", path);
  expect(await totals()).toEqual({ commits: 5, operations: 7, reads: 6 });
  for (const token of [app.keys.test, app.keys.other])
    expect(await totals(token)).toEqual({ commits: 0, operations: 0, reads: 0 });
});

test("[G15] the counts of several processes are added up, at the latest when they stop", async () => {
  const before = await totals();
  const { server, call: callOther } = await app.another();
  for (let i = 0; i < 10; i++) await Promise.all([call("GET", `${slides}/a`), callOther("GET", `${slides}/a`)]);
  await server.close();
  expect(await totals()).toEqual({ ...before, reads: before.reads + 20 });
  const { call: callThird } = await app.another();
  await callThird("GET", `${slides}/a`);
  await until(async () => expect(await total("reads")).toBe(before.reads + 21));
});

test("[G15] usage lists the requested days, oldest first", async () => {
  const day = dayOf(Date.now());
  await app.sql(
    `insert into holdfast.usage select $1, $2::date - n, 'reads', n from unnest(array[1, 28, 29, 30, 31, 399, 400, 401]) n`,
    [tenant, day],
  );
  const ago = (days: number) => dayOf(Date.parse(day) - days * 86_400_000);
  const days = async (search: string) => (await usage(search)).filter(({ event_name }) => event_name === "reads");
  expect((await days(`?ending_at=${ago(1)}`)).map(({ day: one }) => one)).toEqual([30, 29, 28, 1].map(ago));
  expect(await days(`?starting_at=${ago(30)}&ending_at=${ago(29)}`)).toEqual([
    { day: ago(30), event_name: "reads", count: 30 },
    { day: ago(29), event_name: "reads", count: 29 },
  ]);
  expect(await days(`?starting_at=${ago(31)}T10:00:00Z&ending_at=${ago(31)}T20:00:00Z`)).toHaveLength(1);
  expect(await usage("?ending_at=0001-01-05")).toEqual([]);
  const { body } = await call("GET", "/v1/usage?starting_at=9999-12-31&ending_at=9999-12-31");
  expect(body).toEqual({ object: "list", data: [], has_more: false, next_cursor: null });
});

test("[G15] a day ends at midnight UTC, and what cannot be written is kept", async () => {
  const pool = app.pool(2);
  let now = Date.parse("2020-01-31T23:59:59.999Z");
  const counter = createUsageCounter(pool, () => now);
  counter.add(tenant, "reads");
  now += 1;
  counter.add(tenant, "reads", 2);
  await app.sql("alter table holdfast.usage rename to elsewhere");
  await expect(counter.flush()).rejects.toThrow();
  counter.add(tenant, "reads", 3);
  await app.sql("alter table holdfast.elsewhere rename to usage");
  const failures: unknown[] = [];
  await startUsageWriter(counter.flush, 60_000, (error) => failures.push(error)).stop();
  await Promise.all([counter.flush(), counter.flush()]);
  expect(failures).toEqual([]);
  expect(await usage("?starting_at=2020-01-01&ending_at=2020-12-31")).toEqual([
    { day: "2020-01-31", event_name: "reads", count: 1 },
    { day: "2020-02-01", event_name: "reads", count: 5 },
  ]);
});

test("[G15] usage is forgotten after 400 days", async () => {
  const pool = app.pool(2);
  await app.sql("insert into holdfast.usage select n, '2020-01-01', 'reads', 1 from generate_series(100001, 102500) n");
  // Those, the day 401 days ago, and the two of the test before.
  expect(
    (
      await prune(pool, {
        receiptDays: 30,
        tokenDays: 30,
        usageDays: 400,
        claimDays: 7,
        attemptDays: 30,
        logDays: undefined,
      })
    ).usage,
  ).toBe(2_503);
  const left = await app.sql<{ days: number }>(
    "select (now() at time zone 'UTC')::date - day as days from holdfast.usage where event_name = 'reads' order by 1 desc limit 2",
  );
  expect(left.map(({ days }) => days)).toEqual([400, 399]);
});
