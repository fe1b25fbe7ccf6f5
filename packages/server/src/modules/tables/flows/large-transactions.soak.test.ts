import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import { startWithTables } from "../../../testing/attached-tables.ts";
import { attachAndFollow } from "../../../testing/waiting/follow-tables.ts";

const tables = await startWithTables();
const { db } = tables;

test("[DS2] [DS3] a transaction of many statements and 10 000 rows is one commit", async () => {
  const log = await attachAndFollow(tables, "create table public.plenty (id int primary key, title text, n int)", {
    plenty: { title: {}, n: { type: "integer" } },
  });
  await db.query("insert into plenty select n, 'Row ' || n, 0 from generate_series(1, 4000) n");
  await db.query("begin");
  await db.query("insert into plenty select n, 'Row ' || n, 0 from generate_series(4001, 10000) n");
  await db.query("update plenty set n = id where id <= 3000");
  await db.query("delete from plenty where id between 3001 and 4000");
  await db.query("commit");
  await db.query(
    "begin; update plenty set n = n + 1; delete from plenty where id % 7 = 0; update plenty set n = 5; commit",
  );
  const [first, second, third, ...more] = await log.bySql();
  const counted = (verb: string) => second?.filter((told) => told.startsWith(verb)).length;
  expect([first?.length, counted("created"), counted("updated"), counted("deleted")]).toEqual([
    ...[4_000, 6_000, 3_000, 1_000],
  ]);
  expect(second).toContain("updated plenty/3000 n=3000");
  expect(second).toContain("created plenty/10000 title=Row 10000 n=0");
  expect(third?.filter((told) => told.startsWith("deleted"))).toHaveLength(1_285);
  expect(more).toEqual([]);
  await log.expectEqual();
});

test("[DS2] a transaction that changes 300 MB is one commit, and only some of its rows are in memory at once", async () => {
  await db.query(
    "create table public.heavy (id int primary key, t text); insert into heavy select g, repeat(md5(g::text), 32768) from generate_series(1, 300) g",
  );
  const { model } = await tables.attach("public.heavy", { t: {} });
  const start = process.memoryUsage().rss;
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss - start);
  }, 20);
  onTestFinished(() => clearInterval(watch));
  await tables.mark();
  await db.query("update heavy set t = reverse(t)");
  const other = tables.app.call("POST", "/v1/models/document", { key: "beside", json: { id: "beside", data: {} } });
  expect((await other).status).toBe(200);
  const made = await tables.app.sql<{ names: number; entries: number }>(
    "select count(distinct client_tx_id)::int as names, count(*)::int as entries from holdfast.log where model = $1",
    [model],
  );
  expect(made).toEqual([{ names: 1, entries: 300 }]);
  expect(most / 2 ** 20).toBeLessThan(1_000);
});

test("[DS81] [DS127] a large transaction is recorded, whatever Postgres believes of the table of changes after a crash", async () => {
  await db.query("create table public.crashed (id int primary key, n int)");
  const { model } = await tables.attach("public.crashed", { n: { type: "integer" } });
  await db.query("insert into crashed select g, 0 from generate_series(1, 60000) g");
  const entries = () =>
    tables.app.sql<{ count: number }>("select count(*)::int as count from holdfast.log where model = $1", [model]);
  await until(async () => expect(await entries()).toEqual([{ count: 60_000 }]));
  await db.query("begin");
  await db.query("update crashed set n = 1");
  await db.query("update crashed set n = 2");
  await db.query("update pg_class set reltuples = 0, relpages = 5935 where oid = 'holdfast.captured_change'::regclass");
  await db.query("commit");
  await until(async () => expect(await entries()).toEqual([{ count: 120_000 }]));
}, 600_000);

test("[DS81] 800 rows of 1 MB in one statement are recorded, and another tenant's writes go on meanwhile", async () => {
  const { app } = tables;
  await db.query("create table public.vast (id int primary key, t text)");
  const { model } = await tables.attach("public.vast", { t: {} });
  const { token } = await app.newOrganization();
  const pushed = { models: { note: { fields: { title: { type: "string" } } } } };
  expect((await app.call("POST", "/v1/schema", { token, json: pushed })).status).toBe(201);
  await tables.mark();
  await db.query("insert into vast select g, repeat(md5(g::text), 32768) from generate_series(1, 800) g");
  const isRecorded = async () =>
    (await app.sql("select from holdfast.log where model = $1 limit 1", [model])).length > 0;
  let beside = 0;
  for (; !(await isRecorded()); beside++) {
    const json = { id: `n-${beside}`, data: { title: "Beside" } };
    expect((await app.call("POST", "/v1/models/note", { token, key: `k-${beside}`, json })).status).toBe(200);
  }
  expect(beside).toBeGreaterThan(0);
  const made = await app.sql<{ names: number; entries: number }>(
    "select count(distinct client_tx_id)::int as names, count(*)::int as entries from holdfast.log where model = $1",
    [model],
  );
  expect(made).toEqual([{ names: 1, entries: 800 }]);
});

test("[DS81] 100 000 rows that one transaction changes twice have one entry each", async () => {
  await db.query("create table public.twice (id int primary key, n int)");
  const { model } = await tables.attach("public.twice", { n: { type: "integer" } });
  await db.query(
    "begin; insert into twice select g, 0 from generate_series(1, 100000) g; update twice set n = 1; commit",
  );
  const count = "select count(*)::int as entries from holdfast.log where model = $1";
  while ((await tables.app.sql<{ entries: number }>(count, [model]))[0]?.entries === 0) await pause(100);
  expect(await tables.app.sql(count, [model])).toEqual([{ entries: 100_000 }]);
});

test("[DS83] whatever a column's JSON comes to, no statement fails, and the changes after it are recorded", async () => {
  await db.query(`create table public.near (id int primary key, body text, n int default 0);
    create function public.count_near() returns trigger language plpgsql as $$ begin
      if pg_trigger_depth() < 2 then update near set n = n + 1 where id = new.id; end if; return null; end $$;
    create trigger count_near after insert or update on near for each row execute function count_near();
    create domain public.dtext as text;
    create table public.odd (id int primary key, title text, ns numeric[], j jsonb, d dtext, b bpchar);
    insert into odd values (1, 'before', null, to_jsonb(repeat(chr(1), 11000000)), null, null),
      (2, 'before', null, null, repeat(chr(1), 11000000), repeat(chr(1), 200000000)),
      (3, 'before', array_fill(1e131071::numeric, array[9000]), to_jsonb(array_fill(1e131071::numeric, array[9000])), null, null)`);
  const { model } = await tables.attach("public.near", { body: {}, n: { type: "integer" } });
  await tables.attach("public.odd", {
    ...{ title: {}, ns: { type: "array" }, j: { type: "json" }, d: {}, b: {} },
  });
  // Just what can be read, before and after, and what a trigger leaves of it.
  await db.query("insert into near values (1, repeat('x', 16777216 - 40))");
  await db.query("update near set body = repeat('y', 16777216 - 40)");
  await db.query("update odd set title = 'after'");
  await db.query("insert into odd values (4, 'a', array_fill(1e131071::numeric, array[1000]))");
  await db.query("insert into odd values (5, 'a', array_fill(1e131071::numeric, array[9000]))");
  await db.query("delete from odd where id = 3");
  await db.query("insert into odd values (6, 'last')");
  const waiting = async () =>
    (await tables.app.sql<{ n: number }>("select count(*)::int as n from holdfast.captured_change"))[0]?.n;
  while ((await waiting()) !== 0) await pause(50);
  expect((await tables.create(model, "2", { body: "by a client" })).status).toBe(200);
  expect((await tables.app.call("GET", "/v1/models/odd/6")).body.data).toMatchObject({ title: "last" });
});
