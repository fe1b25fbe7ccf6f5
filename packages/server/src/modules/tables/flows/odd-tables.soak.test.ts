import { beforeEach, expect, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import { createPool } from "../../../kernel/connection/pool.ts";
import { spelled, startWithTables } from "../../../testing/attached-tables.ts";
import { NO_FOLLOWERS } from "../../../testing/no-followers.ts";
import { attachTable } from "./attach-table.ts";
import { verifyTable } from "./verify-table.ts";

const { app, db, pool, tenant, attach, entries, mark, key, create, update, commit } = await startWithTables();

beforeEach(async () => void (await mark()));

const same = async (model: string, rows: number) =>
  expect(await verifyTable(pool, tenant, model)).toMatchObject({ rows, extra: 0, different: 0 });

test("[DS6] rows of partitions: written through the parent, also where an update moves them", async () => {
  await db.query(
    `create table public.parts (id text, title text, region text, primary key (id, region)) partition by list (region)`,
  );
  await db.query(`drop table parts; create table public.parts (id int primary key, title text) partition by range (id);
    create table public.lowparts partition of parts for values from (0) to (10);
    create table public.highparts partition of parts for values from (10) to (100)`);
  const { model } = await attach("public.parts", { title: {} });
  expect((await create(model, "5", { title: "Low" })).status).toBe(200);
  expect((await create(model, "50", { title: "High" })).status).toBe(200);
  const none = await create(model, "500", { title: "None" });
  expect([none.status, none.body.source]).toMatchObject([409, { sqlstate: "23514" }]);
  expect((await update(model, "50", { title: "Higher" })).status).toBe(200);
  expect((await entries(3)).map(spelled)).toEqual(["created 5 Low", "created 50 High", "updated 50 Higher"]);
  await same(model, 2);
});

test("[DS6] a deferred trigger that writes rows at the end, and one that removes the row at once", async () => {
  await db.query(`create table public.sums (id text primary key, title text);
    create table public.fleeting (id text primary key, title text);
    create function public.sum_up() returns trigger language plpgsql as $$
      begin insert into public.sums values ('of-' || new.id, new.title); return null; end $$;
    create constraint trigger sum_up after insert on fleeting deferrable initially deferred for each row execute function sum_up();
    create function public.vanish() returns trigger language plpgsql as $$
      begin delete from public.fleeting where id = new.id; return null; end $$;
    create trigger vanish after insert on fleeting for each row when (new.title = 'gone') execute function vanish()`);
  const sums = await attach("public.sums", { title: {} });
  const { model } = await attach("public.fleeting", { title: {} });
  const answers = await Promise.all([
    create(model, "a", { title: "stays" }),
    create(model, "b", { title: "gone" }),
    create(model, "c", { title: "stays" }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  await same(model, 2);
  await same(sums.model, 3);
});

test("[DS6] hosted and attached models in one commit, both or neither", async () => {
  await db.query("create table public.mixed (id text primary key, title text check (title <> 'bad'))");
  const { model } = await attach("public.mixed", { title: {} });
  const operations = (title: string, id: string) => [
    { action: "create", model: "document", id, data: { title } },
    { action: "create", model, id, data: { title } },
  ];
  expect((await commit(operations("good", "m1"))).status).toBe(200);
  expect((await commit(operations("bad", "m2"))).status).toBe(409);
  expect((await app.call("GET", "/v1/models/document/m1")).status).toBe(200);
  expect((await app.call("GET", "/v1/models/document/m2")).status).toBe(404);
  const log = await entries(2);
  expect(log.map((one) => `${one.model} ${spelled(one)}`)).toEqual([
    "document created m1 good",
    `${model} created m1 good`,
  ]);
});

test("[DS6] 100 commits in one bulk, some of them refused, several of one record", async () => {
  await db.query("create table public.many (id text primary key, title text check (title <> 'bad'), n int)");
  const { model } = await attach("public.many", { title: {}, n: { type: "integer" } });
  const commits = Array.from({ length: 100 }, (_, i) => ({
    clientTxId: key(),
    operations: [
      i < 40
        ? { action: "create", model, id: `r${i}`, data: { title: i % 10 === 3 ? "bad" : "good", n: i } }
        : { action: "update", model, id: `r${i % 40}`, data: { n: i } },
    ],
  }));
  const { status, body } = await app.call("POST", "/v1/commits/bulk", { json: { commits } });
  expect(status).toBe(200);
  const found = (body.data as { httpStatus: number; code?: string }[]).map(
    ({ httpStatus, code }) => code ?? httpStatus,
  );
  expect(found).toEqual(
    Array.from({ length: 100 }, (_, i) => (i % 10 !== 3 ? 200 : i < 40 ? "source_refused" : "dependency_blocked")),
  );
  await same(model, 36);
});

test("[DS14] a table that is dropped, and a column whose type changes, while writes go on", async () => {
  await db.query("create table public.dropped (id text primary key, title text, n int)");
  const { model } = await attach("public.dropped", { title: {}, n: { type: "integer" } });
  expect((await create(model, "a", { title: "One", n: 1 })).status).toBe(200);
  await db.query("alter table dropped alter column n type text");
  expect((await update(model, "a", { n: 2 })).body.code).toBe("source_changed");
  await db.query("drop table dropped");
  const gone = await update(model, "a", { title: "Two" });
  expect([gone.status, gone.body.code]).toEqual([503, "source_changed"]);
  expect((await create("document", "after", {})).status).toBe(200);
});

test("[DS14] a role without rights on the schema cannot call the functions that write", async () => {
  await db.query(`create table public.granted (id text primary key, title text)`);
  const { model } = await attach("public.granted", { title: {} });
  await db.query("create role outsider login password 'secret'");
  const outsider = await app.connect();
  await outsider.query("set role outsider");
  await expect(
    outsider.query("select holdfast.write_rows(1, false, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')"),
  ).rejects.toThrow("permission denied");
  expect((await create(model, "a", { title: "One" })).status).toBe(200);
});

test("[DS14] a server whose role is no superuser and no owner of the table needs the documented rights, and names the one that it lacks", async () => {
  await db.query(`create table public.lent (id text primary key, title text);
    create role keeper login password 'keeper' nosuperuser;
    do $$ begin execute format('grant create on database %I to keeper', current_database()); end $$;
    grant usage, create on schema holdfast to keeper;
    grant all on all tables in schema holdfast to keeper;
    grant all on all sequences in schema holdfast to keeper;
    grant all on all functions in schema holdfast to keeper;
    grant select, insert, update, trigger on public.lent to keeper`);
  const url = new URL(app.databaseUrl);
  url.username = "keeper";
  url.password = "keeper";
  const keeper = createPool({ url: url.href });
  const [{ relation } = { relation: 0 }] = await app.sql<{ relation: number }>(
    "select 'lent'::regclass::oid::int as relation",
  );
  await attachTable(keeper, NO_FOLLOWERS, {
    ...{ tenant, relation, name: "public.lent", modelName: "lent", keyColumn: "id" },
    columns: [{ field: "title", name: "title", declared: "string" }],
    model: { fields: { title: { type: "string", nullable: true } }, table: { name: "public.lent", key: "id" } },
  });
  await keeper.end();
  const { call } = await app.another({ databaseUrl: url.href });
  const made = await call("POST", "/v1/models/lent", { key: key(), json: { id: "a", data: { title: "One" } } });
  expect(made.status, made.text).toBe(200);
  const changed = await call("PATCH", "/v1/models/lent/a", { key: key(), json: { data: { title: "Two" } } });
  expect(changed.status, changed.text).toBe(200);
  const removed = await call("DELETE", "/v1/models/lent/a", { key: key() });
  expect([removed.status, removed.body.source, removed.body.message]).toMatchObject([
    ...[409, { sqlstate: "42501" }, "permission denied for table lent"],
  ]);
  await db.query("grant delete on public.lent to keeper");
  expect((await call("DELETE", "/v1/models/lent/a", { key: key() })).status).toBe(200);
  await db.query("insert into lent values ('b', 'By SQL')");
  await until(async () => expect(await (await call("GET", "/v1/models/lent/b")).status).toBe(200));
  await same("lent", 1);
});
