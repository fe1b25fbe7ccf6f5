import { beforeEach, expect, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import { spelled, startWithTables } from "../../../testing/attached-tables.ts";
import { NO_FOLLOWERS } from "../../../testing/no-followers.ts";
import { wholeLog } from "../../../testing/whole-log.ts";
import { attachTable } from "./attach-table.ts";
import { verifyTable } from "./verify-table.ts";

const { app, db, pool, tenant, attach, entries, mark } = await startWithTables();

let seen = 0;
beforeEach(async () => {
  seen = await mark();
});

test("[DS1] rows that were there before are records, without log entries, and clients are told to read again", async () => {
  await db.query("create table public.before (id text primary key, title text, deck text)");
  await db.query("insert into before select 'r' || n, 'Row ' || n, 'd' || n % 3 from generate_series(1, 1234) n");
  const version = async () => (await app.call("GET", "/v1/schema")).body.version as number;
  const earlier = await version();
  const { model } = await attach("public.before", { title: {}, deck: {} });
  expect(await version()).toBe(earlier + 2);
  expect((await wholeLog(app.call)).length).toBe(seen);
  const { body } = await app.call("GET", `/v1/models/${model}/r7`);
  expect(body.data).toMatchObject({ id: "r7", title: "Row 7", deck: "d1" });
  const kept = await app.sql("select from holdfast.record where model = 'before'");
  expect(kept.length).toBe(0);
  const { text } = await app.call("GET", `/v1/snapshot?model=${model}&limit=2000`);
  expect(text.trim().split("\n").length).toBe(1234 + 2);
  const history = await app.call("GET", `/v1/models/${model}/r7/history`);
  expect([history.status, history.body.data]).toEqual([200, []]);
});

test("[DS4] values keep what JSON can say of them: digits, times in UTC, NUL in json, and the caller's session settings change nothing", async () => {
  await db.query(
    "create table public.typed (id uuid primary key, price numeric, at timestamptz, raw json, took interval, half float8)",
  );
  const [{ relation } = { relation: 0 }] = await app.sql<{ relation: number }>(
    "select 'typed'::regclass::oid::int as relation",
  );
  await attachTable(pool, NO_FOLLOWERS, {
    ...{ tenant, relation, name: "public.typed", modelName: "typed", keyColumn: "id" },
    columns: [
      ...(["price", "took"] as const).map((name) => ({ field: name, name, declared: "string" as const })),
      { field: "at", name: "at", declared: "datetime" },
      { field: "raw", name: "raw", declared: "json" },
      { field: "half", name: "half", declared: "number" },
    ],
    model: {
      fields: {
        price: { type: "string" },
        at: { type: "datetime" },
        raw: { type: "json" },
        took: { type: "string" },
        half: { type: "number" },
      },
      table: { name: "public.typed", key: "id" },
    },
  });
  await db.query("set timezone = 'Asia/Kolkata'; set intervalstyle = 'postgres_verbose'; set extra_float_digits = -10");
  await db.query(
    `insert into typed values ('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 12345678901234567890.10, '2026-01-02 03:04:05.678+05:30',
      '{"a": 1, "nul": "\\u0000", "a": 2}', '1 day 2 hours', 0.1::float8 + 0.2::float8)`,
  );
  await db.query("reset all");
  const [entry] = await entries(1);
  expect(entry?.id).toBe("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
  expect(entry?.data).toEqual({
    id: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    price: "12345678901234567890.10",
    at: "2026-01-01T21:34:05.678Z",
    raw: { a: 2, nul: "\ufffd" },
    took: "P1DT2H",
    half: 0.30000000000000004,
  });
});

test("[DS5] rows written straight to a partition, and by a session that applies replicated changes, are captured", async () => {
  await db.query("create table public.parted (id text primary key, title text) partition by hash (id)");
  await db.query("create table public.parted0 partition of parted for values with (modulus 1, remainder 0)");
  await attach("public.parted", { title: {} });
  await db.query("insert into parted values ('a', 'One')");
  await db.query("insert into parted0 values ('b', 'Two')");
  await db.query(
    "begin; set local session_replication_role = replica; update parted0 set title = 'Three' where id = 'b'; commit",
  );
  expect((await entries(3)).map(spelled)).toEqual(["created a One", "created b Two", "updated b Three"]);
});

test("[DS7] [DS102] [DS101] a renamed column breaks the model: the caller's SQL goes on, nothing is lost, and renamed back all of it arrives", async () => {
  await db.query("create table public.renamed (id text primary key, title text)");
  await attach("public.renamed", { title: {} });
  await db.query("alter table renamed rename column title to name");
  await db.query("insert into renamed values ('a', 'One')");
  const state = async () => (await app.sql("select problem from holdfast.attached_table where model = 'renamed'"))[0];
  await until(async () => (await state())?.problem !== null);
  expect((await state())?.problem).toContain("title");
  expect(await verifyTable(pool, tenant, "renamed")).toMatchObject({
    ...{ broken: true, problems: [expect.stringContaining("no column title")] },
  });
  await db.query("alter table renamed rename column name to title");
  expect(await verifyTable(pool, tenant, "renamed", { repair: true })).toMatchObject({
    ...{ rows: 1, different: 1, extra: 0, repaired: 1 },
  });
  expect((await entries(1)).map(spelled)).toEqual(["created a One"]);
  await until(async () => (await state())?.problem === null);
});

test("[DS8] [DS96] while a table is attached, writers go on: every row ends as it is in the table", async () => {
  await db.query("create table public.busy (id int primary key, title text)");
  await db.query("insert into busy select n, 'Row ' || n from generate_series(1, 5000) n");
  const stop = new AbortController();
  let written = 0;
  const writer = async (seed: number) => {
    const client = await app.connect();
    for (let n = 0; !stop.signal.aborted; n++) {
      const id = ((n * 7919 + seed * 104729) % 6000) + 1;
      if (n % 5 === 0) await client.query("delete from busy where id = $1", [id]);
      else
        await client.query("insert into busy values ($1, $2) on conflict (id) do update set title = excluded.title", [
          id,
          `w${seed}-${n}`,
        ]);
      written += 1;
    }
    await client.end();
  };
  const writing = Promise.all([1, 2, 3].map(writer));
  try {
    await attach("public.busy", { title: {} });
    const before = written;
    await until(() => written > before + 300);
  } finally {
    stop.abort();
    await writing;
  }
  await until(async () => (await app.sql("select from holdfast.captured_change limit 1")).length === 0);
  // Whatever the log has not named is as it was when the table was attached.
  const [wrong] = await app.sql(
    `select count(*)::int as n from (select id::text, title from busy) b
      full join (select distinct on (id) id, verb, data->>'title' as title from holdfast.log
        where tenant = $1 and model = 'busy' order by id, sync_id desc) l using (id)
      where l.verb is not null and b.title is distinct from l.title`,
    [tenant],
  );
  expect(wrong?.n).toBe(0);
  expect(await verifyTable(pool, tenant, "busy")).toMatchObject({ different: 0, extra: 0 });
});

test("[DS1] while the tenant's head is locked, attaching waits, and goes on", async () => {
  await db.query("create table public.held (id text primary key, title text); insert into held values ('a', 'One')");
  await db.query("begin");
  await db.query("select from holdfast.head where tenant = $1 for update", [tenant]);
  let released: Promise<unknown> | undefined;
  const { model } = await attach("public.held", { title: {} }, "id", {
    waiting: () => {
      released ??= db.query("commit");
    },
  });
  expect(released).toBeDefined();
  expect((await app.call("GET", `/v1/models/${model}/a`)).body.data).toMatchObject({ title: "One" });
});

test("[DS3] a role without any right on Holdfast's schema writes the table, and its changes arrive", async () => {
  await db.query("create table public.granted (id text primary key, title text)");
  await attach("public.granted", { title: {} });
  await db.query("create role app_writer; grant insert, update on granted to app_writer");
  await db.query(
    "begin; set local role app_writer; insert into granted values ('a', 'One'); commit; drop owned by app_writer; drop role app_writer",
  );
  expect((await entries(1)).map(spelled)).toEqual(["created a One"]);
});

test("[DS3] a claim on a record ends when its row is deleted", async () => {
  await db.query("create table public.claimed (id text primary key, title text)");
  await db.query("insert into claimed values ('a', 'One')");
  const { model } = await attach("public.claimed", { title: {} });
  const claim = await app.call("POST", "/v1/claims", { json: { target: { model, id: "a" } } });
  expect(claim.status, claim.text).toBeLessThan(300);
  await db.query("delete from claimed");
  await entries(1);
  const { body } = await app.call("GET", `/v1/claims/${claim.body.id}`);
  expect(body.status).toBe("canceled");
});

test("[DS8] another tenant's table is another tenant's: its changes come into its log only", async () => {
  await db.query("create table public.theirs (id text primary key, title text)");
  const [{ relation } = { relation: 0 }] = await app.sql<{ relation: number }>(
    "select 'theirs'::regclass::oid::int as relation",
  );
  const { other } = app.tenants;
  await attachTable(pool, NO_FOLLOWERS, {
    ...{ tenant: other, relation, name: "public.theirs", modelName: "theirs", keyColumn: "id" },
    columns: [{ field: "title", name: "title", declared: "string" }],
    model: { fields: { title: { type: "string" } }, table: { name: "public.theirs", key: "id" } },
  });
  const own = seen;
  await db.query("insert into theirs values ('a', 'One')");
  const theirs = async () => (await app.call("GET", "/v1/models/theirs/a", { token: app.keys.other })).status;
  await until(async () => (await theirs()) === 200);
  expect((await wholeLog(app.call)).length).toBe(own);
  expect((await app.call("GET", "/v1/models/theirs/a")).status).toBe(404);
});

test("[DS3] rows before and after a TRUNCATE of the same transaction, more and larger than one step takes, end as in the table", async () => {
  await db.query("create table public.emptied (id int primary key, title text)");
  await attach("public.emptied", { title: {} });
  await db.query(`begin; insert into emptied select n, repeat('x', 40000) from generate_series(1, 60) n; truncate emptied;
    insert into emptied select n, 'after' from generate_series(50, 120) n; commit`);
  const held = async () =>
    app.sql(
      `select data->>'title' as title, count(*)::int as n from (select distinct on (id) verb, data from holdfast.log
        where model = 'emptied' order by id, sync_id desc) l where verb <> 'deleted' group by 1`,
    );
  await until(async () => (await app.sql("select from holdfast.captured_change limit 1")).length === 0);
  expect(await held()).toEqual([{ title: "after", n: 71 }]);
  const log = await entries(1);
  expect(new Set(log.map(({ clientTxId }) => clientTxId)).size).toBe(1);
});

test("[DS1] a table that is attached already, and a model that has another table, are refused", async () => {
  await db.query("create table public.once (id text primary key, title text)");
  await attach("public.once", { title: {} });
  await expect(attach("public.once", { title: {} })).resolves.toBeDefined();
  await db.query("create schema elsewhere; create table elsewhere.once (id text primary key, title text)");
  await expect(attach("elsewhere.once", { title: {} })).rejects.toThrow("has a table already: public.once");
  const [{ relation } = { relation: 0 }] = await app.sql<{ relation: number }>(
    "select 'once'::regclass::oid::int as relation",
  );
  const again = {
    ...{ tenant, relation, name: "public.once", modelName: "other", keyColumn: "id", columns: [] },
    model: { fields: {}, table: { name: "public.once", key: "id" } },
  };
  await expect(attachTable(pool, NO_FOLLOWERS, again)).rejects.toThrow("is attached already");
});
