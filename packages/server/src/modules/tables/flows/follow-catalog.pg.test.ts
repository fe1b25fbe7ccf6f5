import type { Field, Model } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import { startWithTables } from "../../../testing/attached-tables.ts";
import { followCatalog } from "./follow-catalog.ts";
import { type ListedTable, listTables } from "./list-tables.ts";
import { verifyTable } from "./verify-table.ts";
import { watchTables } from "./watch-tables.ts";

const { app, db, pool, tenant, attach, update, create, rows, mark, entries } = await startWithTables();

/** Pushes other fields or columns of one model; null removes a field. */
async function push(model: string, fields: Record<string, Field | null>, more: object = {}, table: object = {}) {
  const { models } = (await app.call("GET", "/v1/schema")).body as { models: Record<string, Model> };
  const own = models[model] as Model;
  const all = Object.entries({ ...own.fields, ...fields }).filter(([, field]) => field !== null);
  const pushed = { ...own, fields: Object.fromEntries(all), table: { ...own.table, ...table } };
  return app.call("POST", "/v1/schema", { json: { models: { ...models, [model]: pushed }, ...more } });
}

const read = async (model: string, id: string) => (await app.call("GET", `/v1/models/${model}/${id}`)).body.data;
const rowsVersion = async () =>
  (await app.call("GET", "/v1/snapshot?model=document&limit=1")).text.match(/"rowsVersion":(\d+)/)?.[1];
const collected = () => until(async () => (await app.sql("select from holdfast.captured_change limit 1")).length === 0);
const expectEqual = async (model: string) => {
  await collected();
  expect(await verifyTable(pool, tenant, model)).toMatchObject({ different: 0, extra: 0, problems: [], notes: [] });
};

const TEXT = { required: true, nullable: false } as const;

test("[DS49] a column that was added comes into the model by a push: all rows have its values, and clients read again", async () => {
  await db.query("create table public.grown (id text primary key, title text not null)");
  await db.query("insert into grown values ('a', 'One'), ('b', 'Two')");
  const { model } = await attach("public.grown", { title: TEXT });
  expect((await update(model, "a", { title: "First" })).status).toBe(200);
  await db.query("alter table grown add column votes int not null default 3, add column note text");
  const before = await rowsVersion();
  const pushed = await push(model, { votes: { type: "integer" }, note: { type: "string", nullable: true } });
  expect(pushed.status, pushed.text).toBe(201);
  expect(await rowsVersion()).not.toBe(before);
  expect(await read(model, "a")).toEqual({ id: "a", title: "First", votes: 3, note: null });
  expect(await read(model, "b")).toEqual({ id: "b", title: "Two", votes: 3, note: null });
  expect((await update(model, "b", { votes: 4 })).status).toBe(200);
  await db.query("update grown set note = 'By SQL' where id = 'a'");
  await expectEqual(model);
  const { body } = await app.call("GET", `/v1/models/${model}/a/history`);
  expect(body.data).toMatchObject([{ changedFields: ["title"] }, { changedFields: ["note"] }]);
  expect(await rows("grown")).toMatchObject([{ note: "By SQL", votes: 3 }, { votes: 4 }]);
});

test("[DS49] a column that is gone leaves the model by a push, without force: its writes go on", async () => {
  await db.query("create table public.shrunk (id text primary key, title text, note text)");
  await db.query("insert into shrunk values ('a', 'One', 'Note')");
  const { model } = await attach("public.shrunk", { title: {}, note: {} });
  await db.query("alter table shrunk drop column note");
  await db.query("insert into shrunk values ('b', 'Two')");
  const broken = await update(model, "a", { title: "Uno" });
  expect(broken.body.message).toContain('push the schema that "holdfast tables inspect public.shrunk" prints');
  expect((await push(model, { note: null })).status).toBe(201);
  await until(async () => (await update(model, "a", { title: "Uno" })).status === 200);
  await expectEqual(model);
  expect((await app.call("GET", `/v1/models/${model}/b/history`)).body.data).toMatchObject([{ verb: "created" }]);
});

test("[DS18] [DS108] of a transaction that wrote a broken table too, the other table's part is recorded at once, and the rest when it is mended", async () => {
  await db.query("create table public.halted (id text primary key, title text, note text)");
  await db.query("insert into halted values ('a', 'One'); create table public.sound (id text primary key, title text)");
  const halted = await attach("public.halted", { title: {}, note: {} });
  const sound = await attach("public.sound", { title: {} });
  const since = await mark();
  await db.query("alter table halted drop column note");
  await db.query("begin; update halted set title = 'Two'; insert into sound values ('x', 'With it'); commit");
  await db.query("update halted set title = 'Three'; insert into sound values ('y', 'After it')");
  expect((await entries(2)).map(({ model, id }) => `${model} ${id}`)).toEqual(["sound x", "sound y"]);
  expect((await update(sound.model, "x", { title: "By a client" })).status).toBe(200);
  expect((await push(halted.model, { note: null })).status).toBe(201);
  const log = await entries(5);
  expect(log.map(({ model, id, data }) => `${model} ${id} ${data?.title}`)).toEqual([
    ...["sound x With it", "sound y After it", "sound x By a client", "halted a Two", "halted a Three"],
  ]);
  expect(log[3]?.clientTxId).toBe(log[0]?.clientTxId);
  expect(await mark()).toBe(since + 5);
  await expectEqual(halted.model);
  await expectEqual(sound.model);
});

test("[DS49] a field with a new name keeps its column, and a column with a new name its field", async () => {
  await db.query("create table public.named (id text primary key, title text)");
  await db.query("insert into named values ('a', 'One')");
  const { model } = await attach("public.named", { title: {} });
  expect((await update(model, "a", { title: "Two" })).status).toBe(200);
  const renames = [{ model, from: "title", to: "heading" }];
  const heading: Field = { type: "string", nullable: true };
  const renamed = await push(model, { title: null, heading }, { renames }, { columns: { heading: "title" } });
  expect(renamed.status, renamed.text).toBe(201);
  expect((await update(model, "a", { heading: "Three" })).status).toBe(200);
  await db.query("alter table named rename column title to heading");
  expect((await update(model, "a", { heading: "Four" })).status).toBe(503);
  expect((await push(model, {}, {}, { columns: {} })).status).toBe(201);
  expect((await update(model, "a", { heading: "Five" })).status).toBe(200);
  expect(await rows("named")).toEqual([{ id: "a", heading: "Five" }]);
  await expectEqual(model);
});

test("[DS50] [DS101] a column of another type breaks the model: SQL goes on, its value reads as null, writes name the column, and a push mends it", async () => {
  await db.query("create table public.retyped (id text primary key, title text not null, price int not null)");
  await db.query("insert into retyped values ('a', 'One', 1)");
  const { model } = await attach("public.retyped", { title: TEXT, price: { ...TEXT, type: "integer" } });
  // An integer all the same.
  await db.query("alter table retyped alter price type bigint");
  expect((await update(model, "a", { title: "Two" })).status).toBe(200);
  await db.query("alter table retyped alter price type text using 'about ' || price");
  await db.query("insert into retyped values ('b', 'SQL', 'two')");
  expect(await read(model, "a")).toEqual({ id: "a", title: "Two", price: null });
  const refused = await update(model, "a", { title: "Three" });
  expect([refused.status, refused.body.code]).toEqual([503, "source_changed"]);
  expect(refused.body.message).toContain('price is now of type text, and the field "price" of type integer');
  expect(await verifyTable(pool, tenant, model)).toMatchObject({ broken: true, problems: [refused.body.message] });
  const still = await push(model, { price: { type: "number", required: true } });
  expect([still.status, still.body.param]).toEqual([400, "models.retyped.fields.price"]);
  expect((await push(model, { price: { type: "string", required: true } })).status).toBe(201);
  expect(await read(model, "a")).toEqual({ id: "a", title: "Two", price: "about 1" });
  await until(async () => (await update(model, "a", { title: "Three" })).status === 200);
  await expectEqual(model);
  expect(await read(model, "b")).toEqual({ id: "b", title: "SQL", price: "two" });
});

test("[DS50] [DS118] changes that were captured while a column had another type are captured again by a repair", async () => {
  await db.query("create table public.swung (id text primary key, price int)");
  const { model } = await attach("public.swung", { price: { type: "integer" } });
  await db.query(`begin; alter table swung alter price type text; insert into swung values ('a', '1');
    alter table swung alter price type int using price::int; commit`);
  await until(async () => (await app.sql("select from holdfast.attached_table where problem is not null")).length > 0);
  expect((await verifyTable(pool, tenant, model)).problems).toEqual([expect.stringContaining("verify --repair")]);
  await verifyTable(pool, tenant, model, { repair: true });
  await expectEqual(model);
  expect((await app.call("GET", `/v1/models/${model}/a/history`)).body.data).toMatchObject([{ data: { price: 1 } }]);
});

test("[DS49] [DS117] a push that the catalog contradicts is refused with a sentence, and one that does not touch the model passes", async () => {
  await db.query("create type public.phase as enum ('draft', 'done')");
  await db.query("create table public.strict (id text primary key, phase public.phase not null default 'draft')");
  const { model } = await attach("public.strict", {
    phase: { type: "enum", values: ["draft", "done"], nullable: false },
  });
  const wide = await push(model, { phase: { type: "enum", values: ["draft", "done", "open"] } });
  expect([wide.status, wide.body.message]).toEqual([400, expect.stringContaining('cannot be "open"')]);
  const lax = await push(model, { phase: { type: "string", nullable: true } });
  expect([lax.status, lax.body.warnings]).toEqual([201, [expect.stringContaining("drop not null")]]);
  expect((await push(model, { phase: { type: "enum", values: ["draft", "done"] } })).status).toBe(201);
  await db.query("alter type public.phase add value 'open'");
  expect((await verifyTable(pool, tenant, model)).problems).toEqual([expect.stringContaining('can be "open"')]);
  expect((await create("document", "beside", {})).status).toBe(200);
  const { models } = (await app.call("GET", "/v1/schema")).body as { models: object };
  const beside = await app.call("POST", "/v1/schema", { json: { models: { ...models, more: { fields: {} } } } });
  expect(beside.status, beside.text).toBe(201);
  expect((await push(model, { phase: { type: "enum", values: ["draft", "done", "open"] } })).status).toBe(201);
  expect((await create(model, "a", { phase: "open" })).status).toBe(200);
});

test("[DS53] verify and a push say which index is missing, and verify how many rows have integers that are not exact", async () => {
  await db.query("create table public.slow (id text primary key, title text, votes bigint)");
  await db.query("insert into slow values ('a', 'One', 9007199254740993), ('b', 'Two', 9007199254740991)");
  const { model } = await attach("public.slow", { title: {}, votes: { type: "integer" } });
  const index = 'create index on public.slow ((title collate "C"), id)';
  const { body } = await push(model, { title: { type: "string", nullable: true, index: true } });
  expect(body.warnings).toEqual([expect.stringContaining(`run "${index}"`)]);
  const notes = async () => (await verifyTable(pool, tenant, model)).notes;
  const inexact = "1 rows have integers beyond ±9007199254740991, which JavaScript rounds.";
  expect(await notes()).toEqual([expect.stringContaining(index), inexact]);
  await db.query(index);
  expect(await notes()).toEqual([inexact]);
});

test("[DS52] a broken table is in the metrics, and is told once, with what to do, and once when it is mended", async () => {
  const token = "metrics-token-of-this-test";
  const { call } = await app.another({ metricsToken: token });
  const states = async () => {
    const { text } = await call("GET", "/metrics", { token });
    return [...text.matchAll(/^holdfast_attached_tables\{status="(\w+)"\} (\d+)$/gm)].map(
      ([, status, n]) => `${status} ${n}`,
    );
  };
  await db.query("create table public.watched (id text primary key, title text)");
  const { model } = await attach("public.watched", { title: {} });
  const told: string[] = [];
  const tell = (table: ListedTable, what: string) => void (table.model === model && told.push(what));
  const failed = (error: unknown) => void told.push(String(error));
  const look = watchTables({ pool, everyMs: 0, broken: tell, mended: (table) => tell(table, "mended"), failed });
  await look();
  const before = await states();
  expect(before).toContainEqual("detaching 0");
  await db.query("alter table watched rename column title to name");
  for (let n = 0; n < 3; n++) await look();
  expect(told).toEqual([expect.stringContaining("public.watched has no column title any more")]);
  expect(await states()).not.toEqual(before);
  await db.query("alter table watched rename column name to title");
  for (let n = 0; n < 3; n++) await look();
  expect(told.slice(1)).toEqual(["mended"]);
  expect(await states()).toEqual(before);
});

/** Whether clients read the rows again after these statements. */
async function readsAgainAfter(statements: string): Promise<boolean> {
  await followCatalog(pool);
  const before = await rowsVersion();
  await db.query(statements);
  await followCatalog(pool);
  return (await rowsVersion()) !== before;
}

test("[DS84] what changes values without writing rows makes clients read them again, and what changes none does not", async () => {
  await db.query(`create type public.stage as enum ('new', 'old');
    create table public.altered (id text primary key, title text, stage public.stage, price numeric(10, 2), n int,
      twice int generated always as (n * 2) stored);
    insert into altered values ('a', 'One', 'new', 1.25, 1)`);
  await attach("public.altered", {
    ...{ title: {}, stage: {}, price: {}, n: { type: "integer" }, twice: { type: "integer" } },
  });
  expect(await readsAgainAfter("alter type public.stage rename value 'new' to 'fresh'")).toBe(true);
  expect(await readsAgainAfter("alter table altered alter column title type text using upper(title)")).toBe(true);
  expect(await readsAgainAfter("alter table altered alter column price type numeric(10, 1)")).toBe(true);
  expect(
    await readsAgainAfter(
      "alter table altered drop column twice, add column twice int generated always as (n * 3) stored",
    ),
  ).toBe(true);
  expect(
    await readsAgainAfter(
      "alter table altered drop column n cascade; alter table altered add column n int, add column twice int",
    ),
  ).toBe(true);
  for (const harmless of [
    "alter type public.stage add value 'last'",
    "alter table altered alter column title set not null",
    "alter table altered add column beside int default 3",
    "create index on altered (title); update altered set title = 'Two'; truncate altered",
    "alter table altered rename column title to heading; alter table altered rename column heading to title",
  ])
    expect(await readsAgainAfter(harmless), harmless).toBe(false);
});

test("[DS84] [DS133] [DS132] a table whose triggers are disabled is broken; afterwards verify says that writes may be missed, until a repair", async () => {
  await db.query("create table public.muted (id text primary key, title text); insert into muted values ('a', 'One')");
  const { model } = await attach("public.muted", { title: {} });
  const listed = async () => (await listTables(pool)).find((table) => table.model === model);
  await db.query("alter table muted disable trigger all");
  expect(await listed()).toMatchObject({ status: "broken", problem: expect.stringContaining("disabled, or gone") });
  expect((await update(model, "a", { title: "Two" })).body.code).toBe("source_changed");
  expect(await verifyTable(pool, tenant, model)).toMatchObject({ broken: true });
  expect(await readsAgainAfter("update muted set title = 'Unheard'; alter table muted enable trigger all")).toBe(true);
  expect(await listed()).toMatchObject({ status: "attached", missed: expect.stringContaining("were disabled") });
  expect((await verifyTable(pool, tenant, model)).problems).toEqual([expect.stringContaining("were disabled")]);
  await db.query("alter table muted disable trigger all");
  expect(await verifyTable(pool, tenant, model, { repair: true })).toMatchObject({ broken: false, problems: [] });
  expect(await listed()).toMatchObject({ status: "attached", missed: null });
  expect((await update(model, "a", { title: "Two" })).status).toBe(200);
  await expectEqual(model);
});

test("[DS84] a partition that is detached or attached makes clients read again", async () => {
  await db.query(`create table public.parted (id int primary key, title text) partition by range (id);
    create table public.parted_low partition of public.parted for values from (0) to (10);
    create table public.parted_high (id int primary key, title text);
    insert into parted values (1, 'One'); insert into parted_high values (11, 'Eleven')`);
  const { model } = await attach("public.parted", { title: {} });
  expect(await readsAgainAfter("alter table parted attach partition parted_high for values from (10) to (20)")).toBe(
    true,
  );
  expect(await readsAgainAfter("alter table parted detach partition parted_low")).toBe(true);
  expect((await verifyTable(pool, tenant, model)).problems).toEqual([
    expect.stringContaining("parted_low is not a partition"),
  ]);
  expect((await verifyTable(pool, tenant, model, { repair: true })).problems).toEqual([]);
});
