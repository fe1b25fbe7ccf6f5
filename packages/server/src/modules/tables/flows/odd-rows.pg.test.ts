import { expect, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import { startWithTables } from "../../../testing/attached-tables.ts";
import { attachAndFollow } from "../../../testing/waiting/follow-tables.ts";
import { builtInHooks } from "../../open-modules.ts";
import { openTableTools } from "./table-tools.ts";
import { verifyTable } from "./verify-table.ts";

const tables = await startWithTables();
const { app, db, pool, tenant, attach, create, update, remove, rows } = tables;

const get = (path: string) => app.call("GET", path);
const collected = () => until(async () => (await app.sql("select from holdfast.captured_change limit 1")).length === 0);

const detach = (model: string) =>
  openTableTools(pool, { ...builtInHooks, schemaPushed: [] }, app.databaseUrl).detach(
    { organization: app.organization, livemode: true },
    model,
    {
      drop: false,
    },
  );

test("[DS45] keys with a collation of their own, and columns with any names, are read, listed and written", async () => {
  const long = "a".repeat(58);
  const followed = await attachAndFollow(
    tables,
    `create table public.collated (id text collate "de-x-icu" primary key, title text);
      insert into collated values ('a', 'One'), ('B', 'Two');
      create table public.named (id text primary key, d text, t text, ${long}x1 text, ${long}x2 text);
      insert into named values ('1', 'd', 't', 'x1', 'x2')`,
    { collated: { title: {} }, named: { d: {}, t: {}, [`${long}x1`]: {}, [`${long}x2`]: {} } },
  );
  await db.query("update collated set title = 'Three' where id = 'a'");
  await db.query("update named set d = 'e'");
  await followed.expectEqual();
  expect((await update("collated", "a", { title: "Four" })).status).toBe(200);
  expect((await remove("collated", "B")).status).toBe(200);
  expect((await get("/v1/models/collated?ids=a,B")).body.data).toMatchObject([{ id: "a", title: "Four" }]);
  expect((await get(`/v1/models/named?order_by=${long}x2&filter[${long}x1]=x1&filter[d]=e`)).body.data).toHaveLength(1);
  expect(await verifyTable(pool, tenant, "collated")).toMatchObject({ rows: 1, different: 0, extra: 0, problems: [] });
  await followed.expectEqual();
});

test("[DS45] [DS113] an id is a record's only if it is written as the key is", async () => {
  await db.query(`create extension if not exists citext;
    create table public.short (id varchar(5) primary key, title text); insert into short values ('abcde', 'One');
    create table public.folded (id citext primary key, title text); insert into folded values ('Xy', 'One')`);
  await attach("public.short", { title: {} });
  await attach("public.folded", { title: {} });
  for (const [model, id, other] of [
    ["short", "abcde", "abcdeX"],
    ["folded", "Xy", "xY"],
  ] as const) {
    expect((await get(`/v1/models/${model}/${id}`)).status).toBe(200);
    expect((await get(`/v1/models/${model}/${other}`)).status).toBe(404);
    expect((await get(`/v1/models/${model}?ids=${other}`)).body.data).toEqual([]);
    expect((await get(`/v1/models/${model}?filter[id]=${other}`)).body.data).toEqual([]);
    expect((await update(model, other, { title: "Two" })).body).toMatchObject({ missingIds: [other] });
  }
});

test("[DS56] JSON of any depth, numbers of any size and keys of any length stop nothing: what a record cannot have is cut", async () => {
  const followed = await attachAndFollow(
    tables,
    "create table public.odd (id text primary key, doc jsonb); create table public.plain (id text primary key, title text)",
    { odd: { doc: { type: "json" } }, plain: { title: {} } },
  );
  await db.query(
    "insert into odd values ('deep', (repeat('[', 4000) || repeat(']', 4000))::jsonb), ('huge', '[1e400, 1]')",
  );
  await db.query("insert into odd select string_agg(md5(n::text), ''), '1' from generate_series(1, 84) n");
  await db.query("insert into plain values ('a', 'One')");
  expect((await update("plain", "a", { title: "Two" })).status).toBe(200);
  expect((await followed.commits()).flatMap(({ entries }) => entries).map((entry) => entry.slice(0, 17))).toEqual([
    ...["created odd/deep ", "created odd/huge ", "created plain/a t", "updated plain/a t"],
  ]);
  const { body } = await get("/v1/models/odd/huge/history");
  expect(body.data).toMatchObject([{ data: { doc: [null, 1] } }]);
  for (const levels of [1_000, 6_000]) {
    await db.query("insert into odd values ($1, (repeat('[', $2) || repeat(']', $2))::jsonb)", [`d${levels}`, levels]);
    for (const path of ["", "?order_by=doc", `/d${levels}/history`, `/d${levels}`])
      expect((await get(`/v1/models/odd${path}`)).status, path).toBeLessThan(500);
    expect((await get("/v1/snapshot?model=odd")).status).toBe(200);
    expect((await update("odd", `d${levels}`, { doc: 1 })).status).toBe(200);
    await db.query("delete from odd where id = $1", [`d${levels}`]);
  }
  expect(await verifyTable(pool, tenant, "odd")).toMatchObject({ different: 0, extra: 0 });
  expect((await update("odd", "deep", { doc: 1 })).status).toBe(200);
  await detach("odd");
  expect((await get("/v1/models/odd")).body.data).toMatchObject([{ id: "deep", doc: 1 }, { id: "huge" }]);
});

const spelledSince = async (since: number, model: string) =>
  (
    await app.sql<{ text: string }>(
      `select concat_ws(' ', verb, id, data->>'n', translate(changed_fields::text, '[]"', '')) as text from holdfast.log
        where tenant = $1 and sync_id > $2 and model = $3 order by sync_id`,
      [tenant, since, model],
    )
  ).map(({ text }) => text);

test("[DS2] of a transaction with any number of changes, a row has one entry: its last state", async () => {
  await db.query("create table public.many (id int primary key, n int); insert into many values (1, 0), (2, 0)");
  await attach("public.many", { n: { type: "integer" } });
  const since = await tables.mark();
  const updates = (count: number) =>
    Array.from({ length: count }, (_, i) => `update many set n = ${i + 1} where id = 1`);
  await db.query(["begin", ...updates(500), "update many set n = 7 where id = 2", "commit"].join(";"));
  await collected();
  expect(await spelledSince(since, "many")).toEqual(["updated 1 500 n", "updated 2 7 n"]);
  await db.query(["begin", ...updates(300), "update many set n = 500 where id = 1", "commit"].join(";"));
  await db.query(
    [
      "begin",
      "insert into many select g, 1 from generate_series(10, 400) g",
      "delete from many where id > 10",
      "commit",
    ].join(";"),
  );
  await collected();
  expect(await spelledSince(since, "many")).toEqual(["updated 1 500 n", "updated 2 7 n", "created 10 1"]);
});

test("[DS2] so it is if triggers change the rows that are being changed", async () => {
  const trigger = (name: string, when: string, act: string) =>
    `create function public.${name}() returns trigger language plpgsql as $$ begin ${act}; return null; end $$;
     create trigger ${name} ${when} for each row execute function public.${name}()`;
  await db.query(`create table public.gone (id int primary key, n int);
    create table public.kept (id int primary key, n int); insert into kept select g, 0 from generate_series(1, 300) g;
    create table public.moved (id int primary key, n int, m int); insert into moved select g, 0, 0 from generate_series(1, 300) g`);
  await db.query(trigger("empty", "after insert on gone", "delete from gone where id = new.id"));
  await db.query(trigger("put_back", "after delete on kept", "insert into kept values (old.id, 1)"));
  await db.query(
    trigger("move_on", "after update of n on moved", "update moved set m = new.n where id = new.id and m <> new.n"),
  );
  for (const [name, fields] of [
    ["gone", ["n"]],
    ["kept", ["n"]],
    ["moved", ["n", "m"]],
  ] as const)
    await attach(`public.${name}`, Object.fromEntries(fields.map((field) => [field, { type: "integer" as const }])));
  const since = await tables.mark();
  await db.query("insert into gone select g, 1 from generate_series(1, 300) g");
  await db.query("delete from kept");
  await db.query("update moved set n = 5");
  await collected();
  expect(await spelledSince(since, "gone")).toEqual([]);
  const summed = async (model: string) => {
    const all = await spelledSince(since, model);
    const kinds = new Set(all.map((text) => text.replace(/ \d+/, "")));
    return [all.length, new Set(all).size, ...kinds];
  };
  expect(await summed("kept")).toEqual([300, 300, "updated 1 n"]);
  expect(await summed("moved")).toEqual([300, 300, "updated 5 n,m"]);
});

test("[DS4] ranges, composite types and names of objects do not depend on the session either, and NUL in them is replaced", async () => {
  await db.query(`create type public.pair as (a date, b bytea, c json);
    create table public.sessions (id int primary key, during daterange, pair public.pair, many json[], of regclass)`);
  const fields = { during: {}, pair: { type: "json" as const }, many: { type: "array" as const }, of: {} };
  await attach("public.sessions", fields);
  await db.query("set datestyle = 'German'; set bytea_output = 'escape'");
  await db.query(
    `insert into sessions values (1, '[2026-02-03,2026-03-05)', row('2026-02-03', '\\xdead', '{"x": "\\u0000"}'),
      array['["\\ud83d"]']::json[], 'public.sessions')`,
  );
  await db.query("reset datestyle; reset bytea_output");
  await collected();
  const { data } = (await get("/v1/models/sessions/1")).body;
  expect(data).toEqual({
    ...{ id: "1", during: "[2026-02-03,2026-03-05)", pair: { a: "2026-02-03", b: "\\xdead", c: { x: "\ufffd" } } },
    ...{ many: [["\ufffd"]], of: "public.sessions" },
  });
  expect((await get("/v1/models/sessions/1/history")).body.data).toMatchObject([{ data }]);
  expect(await verifyTable(pool, tenant, "sessions")).toMatchObject({ different: 0, extra: 0 });
});

test("[DS7] a table that gets a child or a parent, or loses its key, is broken, and says so", async () => {
  await db.query(`create table public.bases (id int primary key, n int); insert into bases values (1, 1);
    create table public.leaves (id int primary key, n int); create table public.keyless (id int primary key, n int)`);
  for (const name of ["bases", "leaves", "keyless"]) await attach(`public.${name}`, { n: { type: "integer" } });
  await db.query(`create table public.kids () inherits (bases);
    create table public.trunk (id int not null, n int) partition by range (id);
    alter table trunk attach partition leaves for values from (1) to (10);
    alter table keyless drop constraint keyless_pkey`);
  const said = async (model: string) => (await verifyTable(pool, tenant, model)).problems;
  for (const model of ["bases", "leaves"])
    expect(await said(model)).toEqual([expect.stringContaining("has become a partition, or has parents or children")]);
  expect(await said("keyless")).toEqual([expect.stringContaining("alter table public.keyless add primary key (id)")]);
  expect((await update("bases", "1", { n: 2 })).body).toMatchObject({ code: "source_changed" });
  await db.query(
    "drop table kids; alter table trunk detach partition leaves; alter table keyless add primary key (id)",
  );
  expect((await update("bases", "1", { n: 2 })).status).toBe(200);
  for (const model of ["bases", "leaves", "keyless"]) expect(await said(model)).toEqual([]);
});

test("[DS10] verify sees that a row with an empty key is gone", async () => {
  await db.query("create table public.empties (id text primary key, title text)");
  await attach("public.empties", { title: {} });
  await db.query("insert into empties values ('', 'One'), ('a', 'Two')");
  await collected();
  await db.query(
    "alter table empties disable trigger all; delete from empties where id = ''; alter table empties enable trigger all",
  );
  expect(await verifyTable(pool, tenant, "empties")).toMatchObject({ rows: 1, extra: 1 });
});

test("[DS16] what a trigger leaves on its connection is gone before another tenant's commit", async () => {
  const LEFT = "1234567ms";
  await db.query(`create table public.leaky (id text primary key, title text);
    create table public.victim (id text primary key, title text, timeout text);
    create function public.leak() returns trigger language plpgsql as $$ begin
      perform set_config('statement_timeout', '${LEFT}', false), set_config('client_encoding', 'LATIN1', false), pg_advisory_lock(7);
      return new; end $$;
    create trigger leak before insert on leaky for each row execute function public.leak();
    create function public.see() returns trigger language plpgsql as $$ begin
      new.timeout = current_setting('statement_timeout'); return new; end $$;
    create trigger see before insert on victim for each row execute function public.see()`);
  await attach("public.leaky", { title: {} });
  await attach("public.victim", { title: {} }, "id", {}, app.tenants.other);
  for (let n = 0; n < 8; n++) expect((await create("leaky", `l${n}`, { title: "é" })).status).toBe(200);
  for (let n = 0; n < 8; n++) {
    const json = { id: `v${n}`, data: { title: "é" } };
    const made = await app.call("POST", "/v1/models/victim", { key: `v${n}`, json, token: app.keys.other });
    expect(made.status, made.text).toBe(200);
  }
  expect(new Set((await rows("victim")).map(({ title }) => title))).toEqual(new Set(["é"]));
  expect(await app.sql("select from victim where timeout = $1", [LEFT])).toEqual([]);
  expect(await app.sql("select from pg_locks where locktype = 'advisory' and objid = 7")).toEqual([]);
});

test("[DS2] so it is whatever the rows' sizes are", async () => {
  await db.query(
    "create table public.wide (id int primary key, n int, t text); insert into wide values (1, 0), (2, 0)",
  );
  await attach("public.wide", { n: { type: "integer" }, t: {} });
  const since = await tables.mark();
  const write = (n: number) => `update wide set n = ${n}, t = repeat('${n}', 1500000) where id = ${1 + (n % 2)}`;
  await db.query(["begin", ...[1, 2, 3, 4].map(write), "commit"].join(";"));
  await collected();
  expect(await spelledSince(since, "wide")).toEqual(["updated 2 3 n,t", "updated 1 4 n,t"]);
});

test("[DS6] rows that are written at once are not captured, and the log has what the table made of them", async () => {
  await db.query(
    "create table public.made (id text primary key, title text, size int generated always as (length(title)) stored)",
  );
  await attach("public.made", { title: {}, size: { type: "integer" } });
  await collected();
  const captured = async () => (await app.sql("select last_value from holdfast.captured_change_seq_seq"))[0];
  const before = await captured();
  await tables.mark();
  const operations = ["a", "b"].map((id) => ({ action: "create", model: "made", id, data: { title: `Title ${id}` } }));
  expect((await tables.commit(operations)).status).toBe(200);
  expect((await update("made", "a", { title: "Long title" })).status).toBe(200);
  expect((await remove("made", "b")).status).toBe(200);
  expect((await tables.entries(4)).map(({ id, verb, data }) => [id, verb, data?.size])).toEqual([
    ["a", "created", 7],
    ["b", "created", 7],
    ["a", "updated", 10],
    ["b", "deleted", undefined],
  ]);
  expect(await captured()).toEqual(before);
});

test("[DS6] a date is read alike with and without a trigger, whatever the database's own order of day and month is", async () => {
  await db.query(`create table public.days (id text primary key, day date);
    create table public.watched_days (id text primary key, day date);
    create function public.look() returns trigger language plpgsql as $$ begin return new; end $$;
    create trigger look before insert on watched_days for each row execute function public.look();
    do $$ begin execute format('alter database %I set datestyle = ''ISO, DMY''', current_database()); end $$`);
  const models: string[] = [];
  for (const name of ["days", "watched_days"]) models.push((await attach(`public.${name}`, { day: {} })).model);
  const { call } = await app.another();
  for (const model of models) {
    const made = await call("POST", `/v1/models/${model}`, {
      key: model,
      json: { id: "a", data: { day: "03/02/2026" } },
    });
    expect(made.status, made.text).toBe(200);
    expect((await get(`/v1/models/${model}/a`)).body.data).toMatchObject({ day: "2026-03-02" });
  }
});

test("[DS11] a table of many rows is detached in steps of one speed", async () => {
  await db.query(
    "create table public.lots (id int primary key, n int); insert into lots select g, g from generate_series(1, 20000) g",
  );
  await attach("public.lots", { n: { type: "integer" } });
  await detach("lots");
  expect((await app.sql("select count(*)::int as n from holdfast.record where model = 'lots'"))[0]).toEqual({
    n: 20000,
  });
});
