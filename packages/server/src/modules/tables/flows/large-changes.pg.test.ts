import { expect, test } from "vitest";
import { startWithTables } from "../../../testing/attached-tables.ts";
import { attachAndFollow } from "../../../testing/waiting/follow-tables.ts";
import { loadCapturedTransactions, loadFirstTransaction } from "../db/captured-changes.ts";
import { listTables } from "./list-tables.ts";
import { verifyTable } from "./verify-table.ts";

const tables = await startWithTables();
const { app, db, pool, tenant, attach, mark, entries, update, remove } = tables;

test("[DS81] [DS2] [DS97] of rows that a large transaction changes many times, each has one entry, with its state before and after", async () => {
  const log = await attachAndFollow(tables, "create table public.many (id int primary key, title text, n int)", {
    many: { title: {}, n: { type: "integer" } },
  });
  await db.query("insert into many select g, 'Row ' || g, 0 from generate_series(1, 150) g");
  await db.query(`begin; insert into many select g, 'Row ' || g, 0 from generate_series(151, 300) g;
    update many set n = n + 1; update many set n = n + 1; update many set title = 'Last' where id = 7;
    delete from many where id between 1 and 5 or id > 295; commit`);
  const [, changed] = await log.bySql();
  const counted = (verb: string) => changed?.filter((told) => told.startsWith(verb)).length;
  expect([counted("created"), counted("updated"), counted("deleted")]).toEqual([145, 145, 5]);
  expect(changed).toContain("updated many/7 title=Last n=2");
  expect(changed).toContain("created many/200 title=Row 200 n=2");
  await log.expectEqual();
});

test("[DS81] [DS3] a row that a trigger changes with each row of a large transaction has one entry", async () => {
  const log = await attachAndFollow(
    tables,
    `create table public.sums (id int primary key, n int); create table public.parts (id int primary key, n int);
      create function public.add_up() returns trigger language plpgsql as $$ begin
        update public.sums set n = n + new.n; return null; end $$;
      create trigger add_up after insert on public.parts for each row execute function public.add_up();
      insert into sums values (1, 0)`,
    { sums: { n: { type: "integer" } }, parts: { n: { type: "integer" } } },
  );
  await db.query("insert into parts select g, 1 from generate_series(1, 500) g");
  const [changed, ...more] = await log.bySql();
  expect(more).toEqual([]);
  expect(changed?.filter((told) => told.startsWith("created parts/"))).toHaveLength(500);
  expect(changed?.filter((told) => told.includes("sums"))).toEqual(["updated sums/1 n=500"]);
  await log.expectEqual();
});

test("[DS81] [DS82] where more waits than is looked at, transactions that end among the first changes come first, then the one that ended first", async () => {
  await db.query("create table public.queued (id int primary key, n int)");
  const { model } = await attach("public.queued", { n: { type: "integer" } });
  const other = await app.connect();
  await mark();
  const held = await app.hold(`select from holdfast.head where tenant = ${tenant} for update`);
  await db.query("begin; insert into queued select g, 0 from generate_series(1, 12000) g");
  await other.query("insert into queued values (-1, 0)");
  await db.query("insert into queued values (0, 0); commit");
  const one = (statement: ReturnType<typeof loadCapturedTransactions>) =>
    pool.query(statement.text, [...statement.values]).then(({ rows, command }) => statement.read(rows, command));
  expect(await one(loadCapturedTransactions(tenant, []))).toMatchObject({ transactions: [], more: true });
  const { transactions } = await one(loadFirstTransaction(tenant, []));
  const [short] = await app.sql<{ tx: string }>(
    "select tx::text from holdfast.captured_change where key = '-1' and tenant = $1",
    [tenant],
  );
  expect(transactions.map(({ tx }) => tx)).toEqual([short?.tx]);
  const [listed] = (await listTables(pool)).filter((table) => table.model === model);
  expect(listed).toMatchObject({ waiting: 12_002, status: "attached" });
  expect(listed?.waitingBytes).toBeGreaterThan(12_002 * 10);
  expect(Date.parse(listed?.waitingSince ?? "")).toBeGreaterThan(0);
  const token = "metrics-token-of-this-test";
  const { call } = await app.another({ metricsToken: token });
  const { text } = await call("GET", "/metrics", { token });
  expect(text).toContain("holdfast_captured_changes 12002\n");
  expect(text).toMatch(/^holdfast_captured_bytes [1-9]\d+$/m);
  expect(text).toMatch(/^holdfast_captured_age_seconds \d/m);
  await held.release();
  expect((await entries(12_002)).slice(0, 2).map(({ id }) => id)).toEqual(["-1", "1"]);
});

test("[DS83] a row that is too large to be read is an entry that says so: no statement fails, and later changes go on", async () => {
  await db.query("create table public.huge (id text primary key, title text, body text)");
  const { model } = await attach("public.huge", { title: {}, body: {} });
  await mark();
  await db.query("insert into huge values ('a', 'Small', 'x'), ('b', 'Beside', 'y')");
  // The second one has six letters in JSON for each of its own: Postgres cannot make that.
  await db.query("update huge set body = repeat('x', 40000000) where id = 'a'");
  await db.query("update huge set body = repeat(chr(1), 200000000) where id = 'b'");
  await db.query("update huge set title = 'Still large' where id = 'b'");
  await db.query("insert into huge values ('c', 'After', 'z')");
  const log = (await entries(6)).map(({ verb, id, data, ...entry }) => ({ verb, id, data, ...entry }));
  expect(log.map(({ verb, id }) => `${verb} ${id}`)).toEqual([
    ...["created a", "created b", "updated a", "updated b", "updated b", "created c"],
  ]);
  expect(log[2]).toMatchObject({ data: null, changedFields: null });
  expect(log[2]).toHaveProperty("unreadable", expect.stringMatching(/ 400000\d\d bytes of JSON/));
  expect(log[3]).toHaveProperty("unreadable", expect.stringMatching(/ 2000000\d\d bytes of JSON/));
  expect(log[3]).not.toHaveProperty("erased");
  const { body } = await app.call("GET", `/v1/models/${model}/b/history`);
  expect(body.data).toMatchObject([
    { verb: "created" },
    { data: null, unreadable: expect.any(String) },
    { data: null },
  ]);
  const verified = await verifyTable(pool, tenant, model);
  expect(verified).toMatchObject({ rows: 3, different: 0, extra: 0 });
  expect(verified.notes.map((note) => note.slice(0, 14))).toEqual(['"a": The recor', '"b": The recor']);
  const refused = await update(model, "a", { title: "By a client" });
  expect([refused.status, refused.body.code]).toEqual([400, "record_too_large"]);
  expect((await remove(model, "b")).status).toBe(200);
  await db.query("update huge set body = 'Short' where id = 'a'");
  expect((await entries(8)).slice(6)).toMatchObject([
    { verb: "deleted", id: "b" },
    { verb: "updated", id: "a", data: { id: "a", title: "Small", body: "Short" } },
  ]);
  expect(await verifyTable(pool, tenant, model)).toMatchObject({ rows: 2, different: 0, extra: 0, notes: [] });
});

test("[DS83] [DS91] a row with millions of JSON values in few bytes is unreadable by every door, and ends nothing", async () => {
  await db.query("create table public.bomb (id text primary key, title text, doc json)");
  const { model } = await attach("public.bomb", { title: {}, doc: { type: "json" } });
  await mark();
  await db.query(`insert into bomb select 'a', 'Many', ('[' || repeat('{},', 600000) || '{}]')::json;
    insert into bomb select 'b', 'Text', to_json(repeat('a,"', 600000))`);
  await db.query("update bomb set title = 'Changed'");
  const log = await entries(4);
  const toldOf = (entry: object) => (entry as { unreadable?: string }).unreadable?.slice(0, 34);
  expect(log.map((entry) => [entry.id, entry.data?.title, toldOf(entry)])).toEqual([
    ["a", undefined, "The record has 600002 JSON values "],
    ["b", "Text", undefined],
    ["a", undefined, "The record has 600002 JSON values "],
    ["b", "Changed", undefined],
  ]);
  const { status, body } = await app.call("GET", `/v1/models/${model}/a`);
  expect([status, body.message]).toEqual([
    413,
    expect.stringMatching(/60000\d JSON values \(up to 500000 can be read\)/),
  ]);
  const list = await app.call("GET", `/v1/models/${model}`);
  expect(list.body).toMatchObject({ data: [{ id: "b" }], unreadable: [{ id: "a" }] });
  expect(await verifyTable(pool, tenant, model)).toMatchObject({ rows: 2, different: 0, extra: 0 });
});

test("[DS81] [DS128] two rows that have one key until the transaction ends become the one that is left", async () => {
  await db.query("create table public.later (id text primary key deferrable initially deferred, title text)");
  const { model } = await attach("public.later", { title: {} });
  await db.query("insert into later values ('a', 'One')");
  await entries(1);
  await mark();
  for (const statements of [
    ["insert into later values ('a', 'Two')", "delete from later where title = 'One'"],
    [
      "insert into later values ('b', 'x')",
      "insert into later values ('b', 'y')",
      "delete from later where title = 'x'",
    ],
  ]) {
    await db.query("begin");
    for (const statement of statements) await db.query(statement);
    await db.query("commit");
  }
  expect((await entries(2)).map(({ verb, id, data }) => [verb, id, data?.title])).toEqual([
    ["updated", "a", "Two"],
    ["created", "b", "y"],
  ]);
  expect(await verifyTable(pool, tenant, model)).toMatchObject({ rows: 2, different: 0, extra: 0 });
});

test("[DS83] a column that fails when it is read fails no statement, also where a trigger writes the row again", async (t) => {
  const { rows } = await db.query<{ version: number }>("select current_setting('server_version_num')::int as version");
  if ((rows[0]?.version ?? 0) < 180_000) return t.skip();
  await db.query(`create table public.ratio (id text primary key, x int, n int default 0, g int generated always as (100 / x) virtual);
    create function public.count_ratio() returns trigger language plpgsql as $$ begin
      update ratio set n = n + 1 where id = new.id and n < 1; return null; end $$;
    create trigger count_ratio after insert on ratio for each row execute function count_ratio()`);
  await attach("public.ratio", { x: { type: "integer" }, n: { type: "integer" } });
  await mark();
  await db.query("insert into ratio (id, x) values ('a', 0)");
  await db.query("update ratio set x = 0 where id = 'a'");
  expect((await entries(1))[0]).toMatchObject({ verb: "created", id: "a", data: { x: 0, n: 1 } });
});

test("[DS83] [DS129] a row that can be read again is an entry with its values, also where a trigger writes another table or all of them are null", async () => {
  await db.query(`create table public.shelf (id int primary key, n int default 0); create table public.tome (id int primary key, body text);
    create function public.count_tomes() returns trigger language plpgsql as $$ begin
      update shelf set n = n + 1 where id = 1; return null; end $$;
    create trigger count_tomes after update on tome for each row when (new.id = 1) execute function count_tomes()`);
  await attach("public.shelf", { n: { type: "integer" } });
  await attach("public.tome", { body: {} });
  await mark();
  await db.query("insert into tome select n, repeat('x', 17000000) from generate_series(1, 2) n");
  await entries(2);
  await db.query("update tome set body = 'Short' where id = 1");
  await db.query("update tome set body = null where id = 2");
  expect((await entries(4)).slice(2)).toMatchObject([
    { verb: "updated", id: "1", data: { body: "Short" } },
    { verb: "updated", id: "2", data: { body: null } },
  ]);
});

test("[DS83] a cast to json that fails, and a column that is computed when it is read, fail no statement of the caller's", async () => {
  await db.query(`create type public.mood as enum ('good', 'bad');
    create function public.mood_json(mood) returns json language plpgsql as $$
      begin if $1 = 'bad' then raise exception 'bad mood'; end if; return to_json(1); end $$;
    create cast (mood as json) with function mood_json(mood);
    create table public.moods (id int primary key, title text, m mood)`);
  await attach("public.moods", { title: {} });
  await mark();
  await db.query("insert into moods values (1, 'a', 'good'), (2, 'b', 'bad')");
  await db.query("update moods set title = 'c' where id = 2");
  await db.query("insert into moods values (3, 'd', null)");
  expect((await entries(4)).map(({ verb, id, data }) => [verb, id, data?.title])).toEqual([
    ["created", "1", "a"],
    ["created", "2", "b"],
    ["updated", "2", "c"],
    ["created", "3", "d"],
  ]);
  const [{ version = 0 } = {}] = await app.sql<{ version: number }>(
    "select current_setting('server_version_num')::int as version",
  );
  if (version < 180_000) return;
  await db.query(
    "create table public.computed (id int primary key, title text, big text generated always as (upper(title)) virtual)",
  );
  await attach("public.computed", { title: {} });
  await mark();
  await db.query("insert into computed values (1, 'a')");
  await db.query("update computed set title = 'b'");
  await db.query("delete from computed");
  expect((await entries(3)).map(({ verb }) => verb)).toEqual(["created", "updated", "deleted"]);
});
