import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Model } from "@holdfast/sdk/protocol";
import { beforeEach, expect, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import { startWithTables } from "../../../testing/attached-tables.ts";
import { NO_FOLLOWERS } from "../../../testing/no-followers.ts";
import { commandLine } from "../../../testing/programs/command-line.ts";
import { readCatalog } from "../db/catalog.ts";
import { deriveModels } from "../rules/derive-models.ts";
import { attachTable } from "./attach-table.ts";
import { emitRows } from "./emit-rows.ts";
import { verifyTable } from "./verify-table.ts";

const { app, db, pool, tenant, attach, key, post, create, update, remove, commit, rows, entries, mark } =
  await startWithTables();
beforeEach(async () => void (await mark()));

/** Attaches a table with the model that `tables inspect` derives. */
async function attachDerived(sql: string, name: string): Promise<string> {
  await db.query(sql);
  const [derived] = deriveModels((await readCatalog(pool, [`public.${name}`])).tables, {
    modelNames: new Map([[`public.${name}`, name]]),
  });
  if (!derived || "problem" in derived) throw new Error(derived?.problem);
  const { table, ...rest } = derived;
  await attachTable(pool, NO_FOLLOWERS, { ...rest, tenant, relation: table.relation, name: table.sqlName });
  return name;
}

const tableOf = (name: string, type = "timestamptz") =>
  `create table public.${name} (id text primary key, title text, deleted_at ${type})`;
const archive = (model: string, id: string) => post(`/v1/models/${model}/${id}/archive`, {});
const unarchive = (model: string, id: string) => post(`/v1/models/${model}/${id}/unarchive`, {});
const read = async (model: string, id: string) => (await app.call("GET", `/v1/models/${model}/${id}`)).body;
const ids = async (model: string, query = "") =>
  ((await app.call("GET", `/v1/models/${model}?${query}`)).body.data as { id: string }[]).map(({ id }) => id);
const said = async (count: number) =>
  (await entries(count)).map(({ verb, id, changedFields }) => [verb, id, ...(changedFields ?? [])].join(" "));
const expectEqual = async (model: string, count: number) => {
  await until(async () => (await app.sql("select from holdfast.captured_change limit 1")).length === 0);
  expect(await verifyTable(pool, tenant, model)).toMatchObject({
    ...{ rows: count, different: 0, extra: 0, problems: [], notes: [] },
  });
};

test("[DS77] rows whose column says so are archived from the beginning: in lists, reads, filters, counts and the snapshot", async () => {
  const model = await attachDerived(
    `${tableOf("old_ones")}; insert into old_ones values ('a', 'Gone', '2024-05-06 07:08:09.123456+02'), ('b', 'Here', null)`,
    "old_ones",
  );
  expect(await read(model, "a")).toMatchObject({
    archivedAt: "2024-05-06T05:08:09.123Z",
    data: { id: "a", title: "Gone" },
  });
  expect(await read(model, "b")).toMatchObject({ archivedAt: null });
  expect(await ids(model)).toEqual(["b"]);
  expect(await ids(model, "state=archived")).toEqual(["a"]);
  expect(await ids(model, "state=all")).toEqual(["a", "b"]);
  const { text } = await app.call("GET", `/v1/snapshot?model=${model}`);
  const lines = text
    .split("\n")
    .filter((line) => line.includes('"data"'))
    .map((line) => JSON.parse(line));
  expect(lines.map(({ id, archivedAt }) => [id, archivedAt])).toEqual([
    ["a", "2024-05-06T05:08:09.123Z"],
    ["b", undefined],
  ]);
  await expectEqual(model, 2);
});

await db.query("create domain public.moment as timestamp(3)");
test.each(["timestamptz", "timestamp", "date", "timestamptz(3)", "public.moment"])(
  "[DS77] [DS121] a column of the type %s says it: odd moments too, the same in reads and in the log",
  async (type) => {
    const name = `odd_${type.replaceAll(/\W/g, "_")}`;
    const model = await attachDerived(
      `${tableOf(name, type)}; insert into ${name} values ('a', '', 'infinity'), ('b', '', '-infinity'), ('c', '', '0044-03-15 BC'),
        ('d', '', '12024-01-01'), ('e', '', '2024-02-29'), ('f', '', null)`,
      name,
    );
    const times = async () =>
      Promise.all(["a", "b", "c", "d", "e", "f"].map(async (id) => (await read(model, id)).archivedAt));
    const expected = [
      ...["9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00.000Z", "0001-01-01T00:00:00.000Z"],
      ...["9999-12-31T23:59:59.999Z", "2024-02-29T00:00:00.000Z", null],
    ];
    expect(await times()).toEqual(expected);
    await db.query(`update ${name} set title = 'Two'`);
    await entries(6);
    expect(await times()).toEqual(expected);
    await expectEqual(model, 6);
    // What the log says since when they are, is what the rows say.
    expect((await entries(6)).map(({ verb }) => verb)).toEqual(Array(6).fill("updated"));
    const kept = await app.sql<{ archived_at: string | null }>(
      "select archived_at from holdfast.record where tenant = $1 and model = $2 order by id",
      [tenant, model],
    );
    expect(kept.map(({ archived_at }) => archived_at && new Date(archived_at).toISOString())).toEqual(expected);
    expect((await archive(model, "f")).status).toBe(200);
    expect((await unarchive(model, "a")).status).toBe(200);
    const [first] = await rows(`public.${name}`);
    expect(first).toMatchObject({ deleted_at: null });
    expect((await read(model, "f")).archivedAt).toMatch(/^2\d{3}-/);
    await expectEqual(model, 6);
  },
);

test("[DS78] [DS123] SQL that sets or nulls the column archives and unarchives the record, beside what else it changes", async () => {
  const model = await attachDerived(`${tableOf("by_sql")}; insert into by_sql values ('a', 'One')`, "by_sql");
  await db.query("update by_sql set deleted_at = now() where id = 'a'");
  await db.query("update by_sql set deleted_at = '2020-01-01' where id = 'a'");
  await db.query("update by_sql set deleted_at = null, title = 'Two' where id = 'a'");
  await db.query("insert into by_sql values ('b', 'New', now()), ('c', 'Other', null)");
  await db.query(`begin; update by_sql set deleted_at = now(); update by_sql set deleted_at = null where id <> 'c';
    update by_sql set title = 'Last' where id = 'c'; commit`);
  await db.query("begin; update by_sql set deleted_at = now(); update by_sql set deleted_at = null; rollback");
  await db.query("delete from by_sql where id = 'b'");
  expect(await said(10)).toEqual([
    ...["archived a", "updated a title", "unarchived a", "created b", "archived b", "created c"],
    ...["unarchived b", "updated c title", "archived c", "deleted b"],
  ]);
  expect((await entries(10)).every(({ actor }) => actor === "database")).toBe(true);
  await db.query("update by_sql set deleted_at = '2020-01-02T03:04:05Z' where id = 'a'");
  expect((await entries(11))[10]).toMatchObject({ verb: "archived", archivedAt: "2020-01-02T03:04:05.000Z" });
  await expectEqual(model, 2);
});

test("[DS78] a row that was archived when its table was attached is unarchived by SQL, and stays so otherwise", async () => {
  const model = await attachDerived(
    `${tableOf("was_old")}; insert into was_old values ('a', 'One', now()), ('b', 'One', now()), ('c', 'One', now())`,
    "was_old",
  );
  await db.query("update was_old set title = 'Two' where id = 'a'");
  await db.query("update was_old set deleted_at = null where id = 'b'");
  expect((await update(model, "c", { title: "Three" })).status).toBe(200);
  expect(await said(3)).toEqual(["updated a title", "unarchived b", "updated c title"]);
  expect(await ids(model)).toEqual(["b"]);
  await expectEqual(model, 3);
});

test("[DS78] a trigger of the caller's that moves a row to the archive is part of the write", async () => {
  const model = await attachDerived(
    `${tableOf("by_trigger")};
    create function public.archive_done() returns trigger language plpgsql as $$
      begin if new.title = 'done' then new.deleted_at := now(); end if; return new; end $$;
    create trigger archive_done before insert or update on by_trigger for each row execute function archive_done();
    create function public.touch_again() returns trigger language plpgsql as $$
      begin if new.title = 'twice' then update public.by_trigger set deleted_at = now(), title = 'twice!' where id = new.id; end if; return null; end $$;
    create trigger touch_again after update on by_trigger for each row execute function touch_again()`,
    "by_trigger",
  );
  expect((await create(model, "a", { title: "done" })).status).toBe(200);
  expect((await create(model, "b", { title: "open" })).status).toBe(200);
  expect((await update(model, "b", { title: "twice" })).status).toBe(200);
  expect(await said(5)).toEqual(["created a", "archived a", "created b", "updated b title", "archived b"]);
  const log = await entries(5);
  expect(log[3]?.clientTxId).toBe(log[4]?.clientTxId);
  await expectEqual(model, 2);
});

test("[DS79] archiving sets the column and unarchiving nulls it, in the transaction of the log", async () => {
  const model = await attachDerived(
    `${tableOf("written")}; insert into written values ('a', 'One'), ('b', 'One')`,
    "written",
  );
  expect((await archive(model, "a")).status).toBe(200);
  const [first] = await rows("public.written");
  const { archivedAt } = await read(model, "a");
  expect(first).toMatchObject({ deleted_at: new Date(String(archivedAt)) });
  expect((await archive(model, "a")).status).toBe(200);
  expect((await unarchive(model, "a")).status).toBe(200);
  expect(await rows("public.written")).toMatchObject([{ deleted_at: null }, { deleted_at: null }]);
  const both = await commit([
    { action: "update", model, id: "b", data: { title: "Two" } },
    { action: "archive", model, id: "b" },
    { action: "archive", model, id: "a" },
    { action: "unarchive", model, id: "a" },
  ]);
  expect(both.status, both.text).toBe(200);
  expect(await said(6)).toEqual([
    "archived a",
    "unarchived a",
    "updated b title",
    "archived b",
    "archived a",
    "unarchived a",
  ]);
  expect((await remove(model, "b")).status).toBe(200);
  await expectEqual(model, 1);
});

test("[DS79] what the table does not accept refuses the archive", async () => {
  const model = await attachDerived(
    `create table public.guarded (id text primary key, title text, deleted_at timestamptz, check (deleted_at is null or title <> 'kept'));
    insert into guarded values ('a', 'kept')`,
    "guarded",
  );
  const refused = await archive(model, "a");
  expect([refused.status, refused.body.code]).toEqual([409, "source_refused"]);
  expect(refused.body.source).toMatchObject({ sqlstate: "23514" });
  expect((await read(model, "a")).archivedAt).toBeNull();
  // Only the column says it, and no field.
  const unknown = await update(model, "a", { deletedAt: "2024-01-01T00:00:00.000Z" });
  expect([unknown.status, unknown.body.code]).toEqual([400, "unknown_field"]);
  await expectEqual(model, 1);
});

test("[DS79] bulk commits of many archives", async () => {
  const model = await attachDerived(
    `${tableOf("many")}; insert into many select 'r' || n, 'One' from generate_series(1, 50) n`,
    "many",
  );
  const commits = Array.from({ length: 50 }, (_, i) => ({
    clientTxId: key(),
    operations: [{ action: "archive", model, id: `r${i + 1}` }],
  }));
  const { body } = await app.call("POST", "/v1/commits/bulk", { json: { commits } });
  expect((body.data as { httpStatus: number }[]).every(({ httpStatus }) => httpStatus === 200)).toBe(true);
  expect(await ids(model)).toEqual([]);
  await expectEqual(model, 50);
});

/** Pushes a model with another table, and fields that change; null removes one. */
async function push(model: string, table: object, fields: object = {}, more: object = {}) {
  const { models } = (await app.call("GET", "/v1/schema")).body as { models: Record<string, Model> };
  const own = models[model] as Model;
  const all = Object.entries({ ...own.fields, ...fields }).filter(([, field]) => field !== null);
  const pushed = { ...own, ...more, fields: Object.fromEntries(all), table: { ...own.table, ...table } };
  return app.call("POST", "/v1/schema", { json: { models: { ...models, [model]: pushed } } });
}

test("[DS80] [DS124] a push names the column of an attached table: from then on it counts", async () => {
  await db.query(
    `create table public.later (id text primary key, title text, gone date); insert into later values ('a', 'One', '2024-02-29'), ('b', 'One', null), ('c', 'One', '2024-02-29')`,
  );
  const { model } = await attach("public.later", { title: {}, gone: {} });
  expect((await update(model, "a", { title: "Two" })).status).toBe(200);
  const taken = await push(model, { archived: "gone" });
  expect([taken.status, taken.body.param]).toEqual([400, "models.later.table.archived"]);
  expect(taken.body.message).toContain(
    '"gone" names the column public.later.gone, which says when a record was archived',
  );
  const pushed = await push(model, { archived: "gone" }, { gone: null });
  expect(pushed.status, pushed.text).toBe(201);
  expect(await ids(model)).toEqual(["b"]);
  await db.query("update later set title = 'Three'");
  await db.query("update later set gone = null where id = 'a'");
  expect((await said(5)).sort()).toEqual([
    ...["unarchived a", "updated a title", "updated a title", "updated b title", "updated c title"],
  ]);
  await expectEqual(model, 3);
});

test("[DS80] [DS124] a push refuses a column that cannot say it, and a hosted model has none", async () => {
  const model = await attachDerived(
    `create table public.choosy (id text primary key, title text, at timestamptz not null, made timestamptz generated always as (null) stored)`,
    "choosy",
  );
  const message = async (archived: string) => {
    const { status, body } = await push(model, { archived }, { at: null, made: null });
    return [status, body.message];
  };
  expect(await message("none")).toEqual([400, expect.stringContaining("public.choosy has no column none")]);
  expect(await message("id")).toEqual([400, expect.stringContaining("public.choosy.id is the record's id")]);
  expect(await message("at")).toEqual([400, expect.stringContaining("alter column at drop not null")]);
  expect(await message("made")).toEqual([400, expect.stringContaining("is generated")]);
  const text = await push(model, { archived: "title" }, { title: null, at: null, made: null });
  expect(text.body.message).toContain(
    'title is text: "table.archived" takes a column of timestamptz, timestamp or date',
  );
  const hosted = await app.call("POST", "/v1/schema", { json: { models: { x: { fields: {}, archived: "gone" } } } });
  expect([hosted.status, hosted.body.param]).toEqual([400, "models.x.archived"]);
});

test("[DS80] [DS125] without its column, or with one of another type, the model is broken: what the log said last is read", async () => {
  const model = await attachDerived(
    `${tableOf("mended")}; insert into mended values ('a', 'One'), ('b', 'One')`,
    "mended",
  );
  expect((await archive(model, "a")).status).toBe(200);
  await db.query("alter table mended rename deleted_at to removed_at");
  await db.query("update mended set removed_at = null where id = 'a'");
  const gone = await archive(model, "b");
  expect([gone.status, gone.body.code]).toEqual([503, "source_changed"]);
  expect(gone.body.message).toContain("no column deleted_at any more");
  expect(await ids(model)).toEqual(["b"]);
  expect((await push(model, { archived: "removed_at" })).status).toBe(201);
  await until(async () => expect(await ids(model)).toEqual(["a", "b"]));
  await until(async () => (await archive(model, "b")).status === 200);
  await expectEqual(model, 2);
  await db.query("alter table mended alter removed_at type text");
  await until(async () =>
    expect((await archive(model, "a")).body.message).toContain(
      "is now of type text, and says when a record was archived",
    ),
  );
});

test("[DS80] [DS126] verify finds a row that says something else than the log, and --repair records it", async () => {
  const model = await attachDerived(
    `${tableOf("unsaid")}; insert into unsaid values ('a', 'One'), ('b', 'One')`,
    "unsaid",
  );
  expect((await archive(model, "a")).status).toBe(200);
  expect((await update(model, "b", { title: "Two" })).status).toBe(200);
  await db.query(`begin; alter table unsaid disable trigger user; update unsaid set deleted_at = null where id = 'a';
    update unsaid set deleted_at = now() where id = 'b'; alter table unsaid enable trigger user; commit`);
  expect(await verifyTable(pool, tenant, model)).toMatchObject({ different: 2 });
  expect(await verifyTable(pool, tenant, model, { repair: true })).toMatchObject({ repaired: 2 });
  // What they were without the log, is not known.
  expect((await said(6)).slice(2)).toEqual(["updated a title", "unarchived a", "updated b title", "archived b"]);
  await expectEqual(model, 2);
});

test("[DS78] rows that get entries when they are attached are archived there too", async () => {
  const model = await attachDerived(
    `${tableOf("emitted")}; insert into emitted values ('a', 'Gone', '2024-01-02'), ('b', 'Here', null)`,
    "emitted",
  );
  await emitRows(pool, tenant, model);
  expect(await said(3)).toEqual(["created a", "archived a", "created b"]);
  await expectEqual(model, 2);
});

test("[DS77] [DS122] after detaching, the records are archived as the rows said", async () => {
  const model = await attachDerived(
    `${tableOf("left_ones")}; insert into left_ones values ('a', 'Gone', '2024-01-02T03:04:05Z'), ('b', 'Here', null), ('c', 'Here', null)`,
    "left_ones",
  );
  expect((await archive(model, "c")).status).toBe(200);
  const { archivedAt } = await read(model, "c");
  await until(async () => (await app.sql("select from holdfast.captured_change limit 1")).length === 0);
  const { code, err } = await commandLine(app, tmpdir()).run(
    "tables",
    "detach",
    model,
    "--yes",
    "--org",
    app.organization,
  );
  expect([code, err]).toEqual([0, expect.anything()]);
  expect(await ids(model)).toEqual(["b"]);
  expect((await read(model, "a")).archivedAt).toBe("2024-01-02T03:04:05.000Z");
  expect((await read(model, "c")).archivedAt).toBe(archivedAt);
  expect((await unarchive(model, "a")).status).toBe(200);
  expect(await rows("public.left_ones")).toMatchObject([{ deleted_at: expect.any(Date) }, {}, {}]);
});

test("[DS78] [DS79] while clients and SQL archive the same rows, log and table say the same in the end", async () => {
  const model = await attachDerived(
    `${tableOf("contested")}; insert into contested select 'r' || n, 'One' from generate_series(1, 4) n`,
    "contested",
  );
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let n = 0; n < 20; n++) {
      const id = `r${1 + ((writer * 3 + n) % 4)}`;
      const act = (writer + n) % 5;
      if (act === 0) expect((await archive(model, id)).status).toBe(200);
      else if (act === 1) expect((await unarchive(model, id)).status).toBe(200);
      else if (act === 2) expect((await update(model, id, { title: `${writer}-${n}` })).status).toBe(200);
      else if (act === 3) await pool.query("update public.contested set deleted_at = now() where id = $1", [id]);
      else
        await pool.query("update public.contested set deleted_at = null, title = $2 where id = $1", [id, `sql-${n}`]);
    }
  });
  await Promise.all(writers);
  await expectEqual(model, 4);
  const replayed = new Map<string, boolean>();
  for (const { id, verb } of (await entries(0)).filter((entry) => entry.model === model)) {
    if (verb === "updated") continue;
    // An entry says only what changes.
    expect(verb).toBe(replayed.get(id) ? "unarchived" : "archived");
    replayed.set(id, verb === "archived");
  }
  for (const { id, deleted_at } of await rows("public.contested"))
    expect([id, replayed.get(id) ?? false]).toEqual([id, deleted_at !== null]);
});

test("[DS77] a dump has its records archived as the rows say", async () => {
  const model = await attachDerived(
    `${tableOf("dumped")}; insert into dumped values ('a', 'Gone', '2024-01-02T03:04:05Z'), ('b', 'Here', null)`,
    "dumped",
  );
  const path = join(mkdtempSync(join(tmpdir(), "holdfast-dump-")), "dump.jsonl");
  const { code, err } = await commandLine(app, tmpdir()).run("dump", "--org", app.organization, path);
  expect([code, err]).toEqual([0, expect.anything()]);
  const line = (id: string) =>
    readFileSync(path, "utf8")
      .split("\n")
      .find((one) => one.includes(`"${model}"`) && one.includes(`"id":"${id}"`) && one.includes("created_by"));
  expect(line("a")).toContain("2024-01-02");
  expect(line("b")).toContain("Here");
  expect(line("b")).not.toContain("2024-01-02");
});

test("[DS77] [DS79] partitions, a column with an odd name, a key of numbers and one that the database makes", async () => {
  const model = await attachDerived(
    `create table public.odd_parts (id int generated by default as identity primary key, title text, "deletedAt" timestamp(3)) partition by range (id);
    create table public.odd_low partition of odd_parts for values from (0) to (10);
    create table public.odd_high partition of odd_parts for values from (10) to (100);
    insert into odd_parts values (5, 'Gone', now()), (50, 'Here', null)`,
    "odd_parts",
  );
  expect(await ids(model, "state=archived")).toEqual(["5"]);
  expect((await archive(model, "50")).status).toBe(200);
  expect((await unarchive(model, "5")).status).toBe(200);
  await db.query(`update odd_high set "deletedAt" = null`);
  await db.query(`update odd_parts set id = 60, "deletedAt" = now() where id = 5`);
  expect((await said(6)).slice(0, 3)).toEqual(["archived 50", "unarchived 5", "unarchived 50"]);
  expect(new Set((await said(6)).slice(3))).toEqual(new Set(["deleted 5", "created 60", "archived 60"]));
  await expectEqual(model, 2);
});
