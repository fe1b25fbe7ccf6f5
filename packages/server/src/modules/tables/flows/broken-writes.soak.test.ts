import { beforeEach, expect, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import type { Answer, Asking, Call } from "../../../testing/app.ts";
import { spelled, startWithTables } from "../../../testing/attached-tables.ts";
import { verifyTable } from "./verify-table.ts";

const { app, db, pool, tenant, attach, entries, mark, key, create, update, remove, commit, rows } =
  await startWithTables();
beforeEach(async () => {
  await mark();
});

/** What the commits of one request are answered with. */
async function bulk(operations: readonly object[]) {
  const commits = operations.map((operation) => ({ clientTxId: key(), operations: [operation] }));
  const { body, status, text } = await app.call("POST", "/v1/commits/bulk", { json: { commits } });
  expect(status, text).toBe(200);
  return (body.data as { httpStatus: number; code?: string }[]).map(({ httpStatus, code }) => [httpStatus, code]);
}

const OK = [200, undefined];

/** A trigger's function in plpgsql, called as it is named. */
const trigger = (name: string, when: string, body: string) => `
  create function public.${name}() returns trigger language plpgsql as $$ begin ${body} end $$;
  create trigger ${name} ${when} for each row execute function public.${name}()`;

async function expectSame(model: string, of = tenant) {
  await until(
    async () => (await app.sql("select from holdfast.captured_change where tenant = $1 limit 1", [of])).length === 0,
  );
  expect(await verifyTable(pool, of, model)).toMatchObject({ different: 0, extra: 0 });
}

test("[DS3] a row that a trigger deletes or puts back within the same statement is what the table says", async () => {
  await db.query(`create table public.vanishing (id text primary key, title text);
    ${trigger("vanish", "after insert on vanishing", "delete from public.vanishing where id = new.id; return null;")};
    create table public.restored (id text primary key, title text);
    insert into restored values ('a', 'One'), ('b', 'One'), ('c', 'One');
    ${trigger("put_back", "after delete on restored", "insert into public.restored values (old.id, 'Back'); return null;")};
    create table public.rekeyed (id text primary key, title text);
    insert into rekeyed values ('a', 'One');
    ${trigger("keep_old", "after update on rekeyed", "if new.id <> old.id then insert into public.rekeyed values (old.id, 'Back'); end if; return null;")}`);
  const vanishing = (await attach("public.vanishing", { title: {} })).model;
  const restored = (await attach("public.restored", { title: {} })).model;
  const rekeyed = (await attach("public.rekeyed", { title: {} })).model;
  expect((await create(vanishing, "a", { title: "One" })).status).toBe(200);
  await db.query("insert into vanishing values ('b', 'One')");
  await expectSame(vanishing);
  expect((await remove(restored, "a")).status).toBe(200);
  await db.query("delete from restored where id = 'b'");
  await expectSame(restored);
  await db.query("update rekeyed set id = 'b'");
  await expectSame(rekeyed);
  expect((await entries(4)).map(spelled)).toEqual([
    ...["updated a Back", "updated b Back", "updated a Back", "created b One"],
  ]);
});

test("[DS14] a row that an earlier operation of the commit deleted by a cascade can be deleted", async () => {
  await db.query(`create table public.boxes (id text primary key, title text);
    create table public.things (id text primary key, box text references boxes on delete cascade);
    insert into boxes values ('b', 'One');
    insert into things values ('t', 'b')`);
  const boxes = (await attach("public.boxes", { title: {} })).model;
  const things = (await attach("public.things", { box: {} })).model;
  const { status, text } = await commit([
    { action: "delete", model: boxes, id: "b" },
    { action: "delete", model: things, id: "t" },
  ]);
  expect(status, text).toBe(200);
  expect((await entries(2)).map(spelled)).toEqual(["deleted b", "deleted t"]);
});

test("[DS14] [DS105] whatever a trigger raises is the answer to its commit alone", async () => {
  await db.query(`create table public.raising (id text primary key, title text);
    ${trigger(
      "raise_title",
      "before insert on raising",
      `assert new.title <> 'assert', 'Not so.';
       if new.title <> 'fine' then raise exception 'No.' using errcode = new.title; end if; return new;`,
    )}`);
  const { model } = await attach("public.raising", { title: {} });
  const titles = ["assert", "fine", "P0001", "40002", "XX000", "25006", "57014", "08006", "53100", "57P01", "fine"];
  const answers = await bulk(titles.map((title, i) => ({ action: "create", model, id: `r${i}`, data: { title } })));
  const refused = [409, "source_refused"];
  expect(answers).toEqual([
    ...[refused, OK, refused, refused, refused, refused],
    ...[[503, "overloaded"], [503, "unavailable"], [503, "storage_full"], [503, "unavailable"], OK],
  ]);
  expect(await rows("raising")).toHaveLength(2);
  const others = ["22000", "23505", "42P01", "HF001", "0A000", "XYZ12"];
  expect(await bulk(others.map((title) => ({ action: "create", model, id: title, data: { title } })))).toEqual(
    others.map(() => refused),
  );
  for (const title of ["40001", "40P01", "55P03"]) expect((await create(model, "a", { title })).status).toBe(503);
  await expectSame(model);
});

test("[DS14] a message and names of any length are cut, between characters", async () => {
  await db.query(`create table public.loud (id text primary key, title text);
    ${trigger(
      "shout",
      "before insert on loud",
      "raise exception using message = 'x' || repeat('😀', 300000), constraint = repeat('c', 1000000);",
    )}`);
  const { model } = await attach("public.loud", { title: {} });
  const { status, text, body } = await create(model, "a", { title: "One" });
  expect([status, text.length < 10_000, Buffer.from(String(body.message)).toString() === body.message]).toEqual([
    409,
    true,
    true,
  ]);
});

test("[DS16] a commit that waits for a row it does not write, delays no others", async () => {
  await db.query(`create table public.owners (id text primary key, title text);
    create table public.owned (id text primary key, owner text references owners);
    insert into owners values ('o', 'One')`);
  const owners = (await attach("public.owners", { title: {} })).model;
  const owned = (await attach("public.owned", { owner: {} })).model;
  const other = await app.connect();
  await other.query("begin; select from owners where id = 'o' for update");
  const waits = create(owned, "w", { owner: "o" });
  const free = await Promise.all(Array.from({ length: 10 }, (_, i) => create(owners, `o${i}`, { title: "Free" })));
  expect(free.map(({ status }) => status)).toEqual(free.map(() => 200));
  await other.query("commit");
  await other.end();
  expect((await waits).status).toBe(200);
  expect((await entries(11)).at(-1)?.id).toBe("w");
});

test("[DS16] [DS107] many commits with a slow trigger are written over several rounds; one that never ends is 503 alone", async () => {
  await db.query(`create table public.slow (id text primary key, title text);
    ${trigger("linger", "before insert on slow", "perform pg_sleep(new.title::float); return new;")}`);
  const { model } = await attach("public.slow", { title: {} });
  const slow = (id: string, title: string) => ({ action: "create", model, id, data: { title } });
  const titles = [...Array.from({ length: 70 }, () => "0.08"), "60", "0"];
  const answers = await bulk(titles.map((title, i) => slow(`s${i}`, title)));
  expect(answers).toEqual(titles.map((title) => (title === "60" ? [503, "overloaded"] : OK)));
  expect(await rows("slow")).toHaveLength(71);
  await expectSame(model);
});

test("[DS18] a column that is renamed while a write waits for the table, makes it 503 and not refused", async () => {
  await db.query("create table public.renamed (id text primary key, title text, note text)");
  const { model } = await attach("public.renamed", { title: {}, note: {} });
  const other = await app.connect();
  await other.query("begin; alter table renamed rename column note to remark");
  const waits = create(model, "a", { title: "One", note: "Two" });
  await until(async () => (await app.sql("select from pg_locks where not granted")).length > 0);
  await other.query("commit");
  await other.end();
  const { status, body } = await waits;
  expect([status, body.code]).toEqual([503, "source_changed"]);
  await db.query("alter table renamed rename column remark to note");
});

test("[DS6] names that are words of our own SQL, or need quotes, are the caller's to choose", async () => {
  await db.query(`create table public."Order" ("a b" text primary key, t text, r text, ids text, "select" text);
    create table public."keys" (ids text primary key, key text, locked text, n text, names text, name text);
    create table public.r (r text primary key, t text);
    create schema "My ""Schema"; create table "My ""Schema"."Th'ing" ("Key ""x" text primary key, "w" text)`);
  const tables = [
    { name: 'public."Order"', key: "a b", fields: ["t", "r", "ids", "select"] },
    { name: 'public."keys"', key: "ids", fields: ["key", "locked", "n", "names", "name"] },
    { name: "public.r", key: "r", fields: ["t"] },
    { name: `"My ""Schema"."Th'ing"`, key: 'Key "x', fields: ["w"] },
  ];
  for (const { name, key: keyColumn, fields } of tables) {
    const valued = (value: string) => Object.fromEntries(fields.map((field) => [field, value]));
    const { model } = await attach(name, Object.fromEntries(fields.map((field) => [field, {}])), keyColumn);
    expect((await create(model, "a", valued("1"))).status).toBe(200);
    expect((await update(model, "a", valued("2"))).status).toBe(200);
    expect(await rows(name)).toEqual([{ [keyColumn]: "a", ...valued("2") }]);
    await expectSame(model);
    expect((await remove(model, "a")).status).toBe(200);
    expect(await rows(name)).toEqual([]);
  }
});

test("[DS6] a cascade ends the claim on a record that it deletes", async () => {
  await db.query(`create table public.nodes (id text primary key, up text references nodes on delete cascade);
    insert into nodes values ('1', null), ('2', '1'), ('3', '2')`);
  const { model } = await attach("public.nodes", { up: {} });
  const claim = await app.call("POST", "/v1/claims", { json: { target: { model, id: "3" } } });
  const { token } = await app.newKey();
  const own = key();
  expect((await app.call("DELETE", `/v1/models/${model}/1`, { key: own, token })).status).toBe(200);
  expect((await app.call("GET", `/v1/claims/${claim.body.id}`)).body.status).toBe("canceled");
  expect((await entries(3)).map(({ verb, id, clientTxId }) => [verb, id, clientTxId])).toEqual([
    ["deleted", "1", own],
    ["deleted", "2", own],
    ["deleted", "3", own],
  ]);
});

test("[DS16] triggers of two tenants that write each other's tables lose nothing, on two servers", async () => {
  const { other } = app.tenants;
  const copyTo = (table: string) =>
    `if pg_trigger_depth() < 2 then update public.${table} set title = new.title; end if; return null;`;
  await db.query(`create table public.ours (id text primary key, title text);
    create table public.theirs (id text primary key, title text);
    insert into ours values ('a', 'One');
    insert into theirs values ('a', 'One');
    ${trigger("copy_ours", "after update on ours", copyTo("theirs"))};
    ${trigger("copy_theirs", "after update on theirs", copyTo("ours"))}`);
  const ours = (await attach("public.ours", { title: {} })).model;
  const theirs = (await attach("public.theirs", { title: {} }, "id", {}, other)).model;
  const second = await app.another();
  const title = (i: number) => ({ data: { title: `T${i}` } });
  // They wait for each other's rows. One that waits too long is told to come again, with its key.
  const untilAnswered = async (call: Call, path: string, asking: Asking): Promise<Answer> => {
    const answer = await call("PATCH", path, asking);
    return answer.status === 503 ? await untilAnswered(call, path, asking) : answer;
  };
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) => {
      const { call } = i % 4 < 2 ? app : second;
      return i % 2 === 0
        ? untilAnswered(call, `/v1/models/${ours}/a`, { key: key(), json: title(i) })
        : untilAnswered(call, `/v1/models/${theirs}/a`, { key: key(), token: app.keys.other, json: title(i) });
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  await expectSame(ours);
  await expectSame(theirs, other);
});

test("[DS16] a table that SQL has locked delays the commits that write it, and no others", async () => {
  await db.query(`create table public.shut (id text primary key, title text);
    create table public.open (id text primary key, title text);
    insert into shut values ('a', 'One')`);
  const shut = (await attach("public.shut", { title: {} })).model;
  const open = (await attach("public.open", { title: {} })).model;
  const other = await app.connect();
  await other.query("begin; lock table shut in access exclusive mode");
  const waits = [update(shut, "a", { title: "Waited" }), create(shut, "b", { title: "Waited" })];
  const free = await Promise.all(Array.from({ length: 10 }, (_, i) => create(open, `o${i}`, { title: "Free" })));
  expect(free.map(({ status }) => status)).toEqual(free.map(() => 200));
  await other.query("commit");
  await other.end();
  expect((await Promise.all(waits)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await entries(12)).slice(-2).map(({ model }) => model)).toEqual([shut, shut]);
});

test("[DS14] [DS106] a commit may change 10 000 rows of attached tables; one that would change more is refused", async () => {
  await db.query(`create table public.lever (id text primary key, title text);
    create table public.moved (id text primary key, title text);
    insert into moved select 'm' || n, 'One' from generate_series(1, 10000) n;
    ${trigger("move", "after insert on lever", "update public.moved set title = new.title where id < new.title; return null;")}`);
  const lever = (await attach("public.lever", { title: {} })).model;
  const moved = (await attach("public.moved", { title: {} })).model;
  const { status, body } = await create(lever, "a", { title: "n" });
  expect([status, body.code, body.message]).toEqual([
    ...[409, "source_refused", "The write changes more than 10000 rows or 32 MiB of attached tables: do it in SQL."],
  ]);
  expect((await create(lever, "b", { title: "m9" })).status).toBe(200);
  await expectSame(lever);
  await expectSame(moved);
});
