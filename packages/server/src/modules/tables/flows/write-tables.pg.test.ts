import { beforeEach, expect, test } from "vitest";
import { giveTime } from "../../../../../../scripts/testing/give-time.ts";
import { until } from "../../../../../../scripts/testing/until.ts";
import { spelled, startWithTables } from "../../../testing/attached-tables.ts";
import { wholeLog } from "../../../testing/whole-log.ts";
import { verifyTable } from "./verify-table.ts";

const { app, db, pool, tenant, attach, entries, mark, key, post, create, update, remove, commit, rows } =
  await startWithTables();

let seen = 0;
beforeEach(async () => {
  seen = await mark();
});

/** Resolves when a statement of the server waits for a lock. */
const waitsForLock = () =>
  until(async () => {
    const found = await app.sql(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return found.length > 0;
  });

test("[DS6] creates, updates and deletes write the rows, in the transaction that writes the log", async () => {
  await db.query("create table public.plain (id text primary key, title text, size int default 3)");
  const { model } = await attach("public.plain", { title: {}, size: { type: "integer" } });
  expect((await create(model, "a", { title: "One" })).status).toBe(200);
  expect(await rows("plain")).toEqual([{ id: "a", title: "One", size: 3 }]);
  expect((await update(model, "a", { title: "Two" })).status).toBe(200);
  expect(await rows("plain")).toEqual([{ id: "a", title: "Two", size: 3 }]);
  expect((await remove(model, "a")).status).toBe(200);
  expect(await rows("plain")).toEqual([]);
  const log = await entries(3);
  expect(log.map(spelled)).toEqual(["created a One", "updated a Two", "deleted a"]);
  expect(log[0]?.data).toEqual({ id: "a", title: "One", size: 3 });
  expect(log[1]?.changedFields).toEqual(["title"]);
  // Nothing of its own comes back as a change by the database.
  await db.query("insert into plain values ('b', 'Last')");
  const more = await entries(4);
  expect(more.map(({ actor }) => actor)).toEqual([...log.map(({ actor }) => actor), "database"]);
  expect(new Set(log.map(({ actor }) => actor))).not.toContain("database");
});

test("[DS6] only the fields that the commit changes are written", async () => {
  await db.query("create table public.partly (id text primary key, title text, note text)");
  await db.query("insert into partly values ('a', 'One', 'Kept')");
  const { model } = await attach("public.partly", { title: {}, note: {} });
  const other = await app.connect();
  await other.query("begin; update partly set note = 'By SQL' where id = 'a'");
  const written = update(model, "a", { title: "Two" });
  // The row is busy: the commit is set aside, and must not write what it has read before.
  await giveTime(200);
  await other.query("commit");
  expect((await written).status).toBe(200);
  await other.end();
  expect(await rows("partly")).toEqual([{ id: "a", title: "Two", note: "By SQL" }]);
  const log = await entries(2);
  expect(log.map(({ changedFields, actor }) => [changedFields, actor === "database"])).toEqual([
    [["note"], true],
    [["title"], false],
  ]);
  expect(log[1]?.data).toEqual({ id: "a", title: "Two", note: "By SQL" });
});

test("[DS6] [DS99] the log says what the table made of a write: defaults, generated columns, triggers, and cascades, in one commit", async () => {
  await db.query(`create table public.books (
      id text primary key, title text, slug text generated always as (lower(title)) stored, edits int not null default 0,
      made timestamptz not null default '2026-01-02T03:04:05Z');
    create table public.pages (id text primary key, title text, book text references books on delete cascade);
    create function public.count_edits() returns trigger language plpgsql as $$
      begin new.edits := old.edits + 1; return new; end $$;
    create trigger count_edits before update on books for each row execute function count_edits();
    create function public.first_page() returns trigger language plpgsql as $$
      begin insert into public.pages values (new.id || '-1', 'First', new.id); return null; end $$;
    create trigger first_page after insert on books for each row execute function first_page()`);
  const { model } = await attach("public.books", {
    ...{ title: {}, slug: {}, edits: { type: "integer" }, made: { type: "datetime" } },
  });
  await attach("public.pages", { title: {}, book: {} });
  const made = await create(model, "b", { title: "Moby" });
  expect(made.status).toBe(200);
  await update(model, "b", { title: "Dick" });
  const gone = await remove(model, "b");
  expect(gone.status, gone.text).toBe(200);
  const log = await entries(5);
  expect(log.map(spelled)).toEqual([
    ...["created b Moby", "created b-1 First", "updated b Dick", "deleted b", "deleted b-1"],
  ]);
  expect(log[0]?.data).toMatchObject({ slug: "moby", edits: 0, made: "2026-01-02T03:04:05.000Z" });
  expect(log[2]?.data).toMatchObject({ slug: "dick", edits: 1 });
  expect(log[2]?.changedFields?.toSorted()).toEqual(["edits", "slug", "title"]);
  expect(made.body.lastSyncId).toBe(seen + 2);
  expect(log[0]?.clientTxId).toBe(log[1]?.clientTxId);
  expect(log[3]?.clientTxId).toBe(log[4]?.clientTxId);
});

test.each([
  ["cascade", ["deleted a", "deleted b", "deleted c"]],
  ["set null", ["deleted a", "updated b", "updated c"]],
  ["set default", ["deleted a", "updated b", "updated c"]],
])(
  "[DS99] what a foreign key with on delete %s does to rows of two tables is in the log, also where no trigger is",
  async (acts, log) => {
    const suffix = acts.replace(" ", "_");
    const [own, other] = [`nodes_${suffix}`, `leaves_${suffix}`];
    await db.query(`create table public.${own} (id text primary key, up text default null references ${own} on delete ${acts});
    create table public.${other} (id text primary key, up text default null references ${own} on delete ${acts});
    insert into ${own} values ('a', null), ('b', 'a');
    insert into ${other} values ('c', 'a')`);
    const { model } = await attach(`public.${own}`, { up: {} });
    await attach(`public.${other}`, { up: {} });
    expect((await remove(model, "a")).status).toBe(200);
    const said = (await entries(3)).map(({ verb, id }) => `${verb} ${id}`);
    expect(said.sort()).toEqual(log);
  },
);

test.each([
  ["another table", "late_leaves", "on delete cascade", ["deleted a", "deleted b"]],
  ["another table", "late_loose", "on delete set null", ["deleted a", "updated b"]],
  ["its own table", "late_tree", "on delete cascade", ["deleted a", "deleted b"]],
])(
  "[DS174] what a foreign key does to %s (%s, %s) is in the log, also if it was added since the server looked at the tables",
  async (where, name, acts, log) => {
    const isOwn = where === "its own table";
    const parent = isOwn ? name : `${name}_of`;
    await db.query(`create table public.${name} (id text primary key, up text)`);
    if (!isOwn) await db.query(`create table public.${parent} (id text primary key, up text)`);
    await db.query(`insert into ${parent} values ('a', null), ('c', null)`);
    await db.query(`insert into ${name} values ('b', 'a')`);
    const { model } = await attach(`public.${parent}`, { up: {} });
    if (!isOwn) await attach(`public.${name}`, { up: {} });
    // Now it knows the tables, and takes them from this round for the next.
    expect((await update(model, "c", { up: "c" })).status).toBe(200);
    await db.query(`alter table ${name} add foreign key (up) references ${parent} ${acts}`);
    const gone = await remove(model, "a");
    expect(gone.status, gone.text).toBe(200);
    const [, ...said] = await entries(2);
    expect(said.map(({ verb, id }) => `${verb} ${id}`).sort()).toEqual(log);
    expect(new Set(said.map(({ clientTxId }) => clientTxId)).size).toBe(1);
  },
);

test("[DS14] [DS172] [DS104] [DS173] [DS103] a constraint refuses its commit alone, with what the database says; the others of a bulk are written", async () => {
  await db.query(`create table public.strict (
    id text primary key, title text not null, slot int unique deferrable initially deferred, size int check (size > 0))`);
  const { model } = await attach("public.strict", {
    ...{ title: {}, slot: { type: "integer" }, size: { type: "integer" } },
  });
  const item = (id: string, data: object) => ({
    clientTxId: key(),
    operations: [{ action: "create", model, id, data }],
  });
  const again = key();
  const commits = [
    item("a", { title: "A", slot: 1 }),
    item("b", { title: "B", slot: 1 }),
    item("c", { title: null, slot: 2 }),
    item("d", { title: "D", size: 0 }),
    { clientTxId: again, operations: [{ action: "update", model, id: "b", data: { title: "Later" } }] },
    item("e", { title: "E", slot: 2 }),
  ];
  const { body, status, text } = await app.call("POST", "/v1/commits/bulk", { json: { commits } });
  expect(status, text).toBe(200);
  const of = (body.data as { httpStatus: number; code?: string; source?: unknown; param?: string }[]).map((one) => [
    ...[one.httpStatus, one.code, one.source, one.param],
  ]);
  expect(of).toEqual([
    [200, undefined, undefined, undefined],
    [409, "not_unique", { sqlstate: "23505", table: "strict", constraint: "strict_slot_key" }, undefined],
    [409, "source_refused", { sqlstate: "23502", table: "strict", column: "title" }, "operations[0].data.title"],
    [409, "source_refused", { sqlstate: "23514", table: "strict", constraint: "strict_size_check" }, "operations[0]"],
    [409, "dependency_blocked", undefined, undefined],
    [200, undefined, undefined, undefined],
  ]);
  expect((await rows("strict")).map(({ id }) => id)).toEqual(["a", "e"]);
  expect((await entries(2)).map(spelled)).toEqual(["created a A", "created e E"]);
});

test("[DS14] [DS172] a trigger's own message refuses a commit whole; nothing of it is in the table or the log", async () => {
  await db.query(`create table public.guarded (id text primary key, title text);
    create function public.no_swearing() returns trigger language plpgsql as $$
      begin if new.title like '%darn%' then raise exception 'Mind your language.'; end if; return new; end $$;
    create trigger no_swearing before insert or update on guarded for each row execute function no_swearing()`);
  const { model } = await attach("public.guarded", { title: {} });
  const { status, body } = await commit([
    { action: "create", model, id: "a", data: { title: "Fine" } },
    { action: "create", model, id: "b", data: { title: "darn" } },
  ]);
  expect(status).toBe(409);
  expect(body).toMatchObject({
    ...{ code: "source_refused", message: "Mind your language.", param: "operations[1]" },
    source: { sqlstate: "P0001" },
  });
  expect(await rows("guarded")).toEqual([]);
  expect((await wholeLog(app.call)).length).toBe(seen);
});

test("[DS14] a write that the table drops is refused; one that a trigger turns into another is recorded as that", async () => {
  await db.query(`create table public.soft (id text primary key, title text, gone boolean not null default false);
    create function public.soft_delete() returns trigger language plpgsql as $$
      begin update public.soft set gone = true where id = old.id; return null; end $$;
    create trigger soft_delete before delete on soft for each row execute function soft_delete();
    create function public.frozen() returns trigger language plpgsql as $$
      begin if new.title = 'dropped' then return null; end if; return new; end $$;
    create trigger frozen before update on soft for each row execute function frozen()`);
  await db.query("insert into soft values ('a', 'One')");
  const { model } = await attach("public.soft", { title: {}, gone: { type: "boolean" } });
  const dropped = await update(model, "a", { title: "dropped" });
  expect([dropped.status, dropped.body.code, dropped.body.message]).toEqual([
    ...[409, "source_refused", "The table public.soft did not take the write: no row was changed."],
  ]);
  expect((await remove(model, "a")).status).toBe(200);
  expect((await entries(1)).map(({ verb, data }) => [verb, data])).toEqual([
    ["updated", { id: "a", title: "One", gone: true }],
  ]);
});

test("[DS14] [DS104] after a refusal, commits of others that touch the same record are judged by what is there", async () => {
  await db.query("create table public.shared (id text primary key, title text check (title <> 'bad'), note text)");
  await db.query("insert into shared values ('a', 'One', '-')");
  const { model } = await attach("public.shared", { title: {}, note: {} });
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      i % 4 === 1 ? update(model, "a", { title: "bad", note: `${i}` }) : update(model, "a", { title: `T${i}` }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 40 }, (_, i) => (i % 4 === 1 ? 409 : 200)));
  const log = await entries(30);
  expect(log).toHaveLength(30);
  expect(await rows("shared")).toEqual([{ id: "a", title: log.at(-1)?.data?.title, note: "-" }]);
});

test("[DS15] an SQL write between a client's read and its write is a conflict by system:database", async () => {
  await db.query("create table public.contested (id text primary key, title text)");
  await db.query("insert into contested values ('a', 'Base')");
  const { model } = await attach("public.contested", { title: {} });
  const readAt = seen;
  await db.query("update contested set title = 'Theirs'");
  // At once: the write's round records the change first.
  const { body } = await commit([
    { action: "update", model, id: "a", data: { title: "Mine" }, readAt, onStale: "notify" },
  ]);
  expect(body.status).toBe("rejected");
  expect(body.notifications).toMatchObject([{ id: "a", writtenBy: "system:database" }]);
  expect(await rows("contested")).toEqual([{ id: "a", title: "Theirs" }]);
});

test("[DS16] a row that SQL has locked delays the commits that write it, and no others", async () => {
  await db.query("create table public.locked (id text primary key, title text)");
  await db.query("insert into locked values ('a', 'One'), ('b', 'One')");
  const { model } = await attach("public.locked", { title: {} });
  const other = await app.connect();
  await other.query("begin; update locked set title = 'SQL' where id = 'a'");
  const waits = update(model, "a", { title: "Waited" });
  const free = await Promise.all(Array.from({ length: 20 }, (_, i) => update(model, "b", { title: `B${i}` })));
  expect(new Set(free.map(({ status }) => status))).toEqual(new Set([200]));
  await other.query("commit");
  expect((await waits).status).toBe(200);
  await other.end();
  const log = await entries(22);
  expect(log.slice(-2).map(spelled)).toEqual(["updated a SQL", "updated a Waited"]);
});

test("[DS16] a row that stays locked is 503 after a while, and nothing was written", async () => {
  await db.query("create table public.stuck (id text primary key, title text)");
  await db.query("insert into stuck values ('a', 'One')");
  const { model } = await attach("public.stuck", { title: {} });
  const other = await app.connect();
  await other.query("begin; update stuck set title = title where id = 'a'");
  const { status, body } = await update(model, "a", { title: "Never" });
  expect([status, body.code]).toEqual([503, "overloaded"]);
  await other.query("rollback");
  await other.end();
  expect(await rows("stuck")).toEqual([{ id: "a", title: "One" }]);
});

test("[DS16] a slow trigger of one tenant does not delay the attached tables of another", async () => {
  await db.query(`create table public.slow (id text primary key, title text);
    create table public.fast (id text primary key, title text);
    create function public.linger() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock(4711); return new; end $$;
    create trigger linger before insert on slow for each row execute function linger()`);
  const { other } = app.tenants;
  const slow = await attach("public.slow", { title: {} });
  const fast = await attach("public.fast", { title: {} }, "id", {}, other);
  const blocker = await app.connect();
  await blocker.query("select pg_advisory_lock(4711)");
  const lingering = create(slow.model, "a", { title: "Slow" });
  await waitsForLock();
  const ended: string[] = [];
  void lingering.then(() => ended.push("slow"));
  const quick = await app.call("POST", `/v1/models/${fast.model}`, {
    ...{ token: app.keys.other, key: key() },
    json: { id: "a", data: { title: "Fast" } },
  });
  ended.push("fast");
  await blocker.end();
  expect(quick.status).toBe(200);
  expect((await lingering).status).toBe(200);
  expect(ended).toEqual(["fast", "slow"]);
});

test("[DS17] ids: of the key's type, in its own form, and none where the database makes them", async () => {
  await db.query(`create table public.uuids (id uuid primary key, title text);
    create table public.serials (id serial primary key, title text);
    create table public.numbers (id int primary key, title text);
    create table public.trimmed (id text primary key, title text);
    create function public.trim_id() returns trigger language plpgsql as $$
      begin new.id := lower(new.id); return new; end $$;
    create trigger trim_id before insert on trimmed for each row execute function trim_id();
    insert into serials (title) values ('One')`);
  const uuids = (await attach("public.uuids", { title: {} })).model;
  const serials = (await attach("public.serials", { title: {} })).model;
  const numbers = (await attach("public.numbers", { title: {} })).model;
  const trimmed = (await attach("public.trimmed", { title: {} })).model;
  const tried = async (model: string, id: string) => {
    const { status, body } = await create(model, id, { title: "T" });
    return [status, body.code, body.param];
  };
  const uuid = "6f1c7a52-3c1e-4b60-9a39-0d5f1c2b7e11";
  expect(await tried(uuids, "abc")).toEqual([400, "invalid_id", "id"]);
  expect(await tried(uuids, uuid.toUpperCase())).toEqual([400, "invalid_id", "id"]);
  expect(await tried(uuids, uuid)).toEqual([200, undefined, undefined]);
  expect(await tried(numbers, "007")).toEqual([400, "invalid_id", "id"]);
  expect(await tried(numbers, "3000000000")).toEqual([400, "invalid_id", "id"]);
  expect(await tried(numbers, "7")).toEqual([200, undefined, undefined]);
  expect(await tried(trimmed, "ABC")).toEqual([409, "source_refused", undefined]);
  expect(await tried(serials, "5")).toEqual([409, "client_id_required", "id"]);
  expect((await update(serials, "1", { title: "Two" })).status).toBe(200);
  expect((await remove(serials, "1")).status).toBe(200);
  // No row can have such a key, so nothing is there.
  expect((await update(uuids, "abc", { title: "T" })).body).toMatchObject({ missingIds: ["abc"] });
});

test("[DS18] [DS7] [DS101] while a table is broken its writes answer 503 with the column's name, those of other tables and models go on", async () => {
  await db.query("create table public.changing (id text primary key, title text, note text)");
  await db.query(
    "insert into changing values ('a', 'One'); create table public.beside (id text primary key, title text)",
  );
  const { model } = await attach("public.changing", { title: {}, note: {} });
  const other = await attach("public.beside", { title: {} });
  await db.query("alter table changing rename column note to remark");
  const { status, body } = await update(model, "a", { title: "Two" });
  expect([status, body.code]).toEqual([503, "source_changed"]);
  expect(body.message).toContain("no column note");
  expect((await create(other.model, "a", { title: "None wait" })).status).toBe(200);
  await db.query("update changing set title = 'By SQL'");
  expect((await create(other.model, "b", { title: "Does not wait" })).status).toBe(200);
  expect((await create("document", "beside", {})).status).toBe(200);
  expect((await app.call("GET", `/v1/models/${model}/a`)).status).toBe(200);
  await db.query("alter table changing rename column remark to note");
  await verifyTable(pool, tenant, model, { repair: true });
  await until(async () => (await update(model, "a", { note: "Three" })).status === 200);
  expect(await rows("changing")).toEqual([{ id: "a", title: "By SQL", note: "Three" }]);
});

test("[DS6] values of every kind come to the row as they were sent", async () => {
  await db.query(`create type public.mood as enum ('calm', 'busy');
    create domain public.short as text check (length(value) < 9);
    create table public.kinds (id text primary key, mood mood, tags text[], whole bigint, exact numeric(9,3), fits boolean,
      part json, parts jsonb, at timestamptz, day date, name short not null default 'none')`);
  const { model } = await attach("public.kinds", {
    ...{ mood: {}, exact: {}, day: {}, name: {}, whole: { type: "integer" }, fits: { type: "boolean" } },
    ...{ tags: { type: "array" }, part: { type: "json" }, parts: { type: "json" }, at: { type: "datetime" } },
  });
  const data = {
    ...{ mood: "busy", tags: ["a", "b,c", '"'], whole: 2 ** 53 - 1, exact: "1.5", fits: true, part: { a: [1, null] } },
    ...{ parts: "text", at: "2026-02-03T04:05:06.789Z", day: "2026-02-03" },
  };
  const made = await create(model, "a", data);
  expect(made.status, made.text).toBe(200);
  const [row] = (
    await db.query("select exact::text, tags, parts::text, at at time zone 'UTC' as at, name, whole::text from kinds")
  ).rows;
  expect(row).toMatchObject({
    exact: "1.500",
    tags: data.tags,
    parts: '"text"',
    name: "none",
    whole: "9007199254740991",
  });
  const { body } = await app.call("GET", `/v1/models/${model}/a`);
  expect(body.data).toMatchObject({ ...data, exact: "1.500", name: "none" });
  const long = await update(model, "a", { name: "much too long" });
  expect([long.status, long.body.source]).toMatchObject([409, { sqlstate: "23514" }]);
  const odd = await update(model, "a", { mood: "angry" });
  expect([odd.status, odd.body.source]).toMatchObject([409, { sqlstate: "22P02" }]);
});

test("[DS6] [DS100] archiving is the record's alone; an erased record's row goes", async () => {
  await db.query("create table public.kept (id text primary key, title text)");
  await db.query("insert into kept values ('a', 'One')");
  const { model } = await attach("public.kept", { title: {} });
  expect((await post(`/v1/models/${model}/a/archive`, {})).status).toBe(200);
  expect(await rows("kept")).toEqual([{ id: "a", title: "One" }]);
  await update(model, "a", { title: "Two" });
  const erased = await app.call("DELETE", `/v1/models/${model}/a?erase=true`, { key: key() });
  expect(erased.status, erased.text).toBe(200);
  expect(await rows("kept")).toEqual([]);
  expect((await entries(3)).map(({ verb, data }) => [verb, data])).toEqual([
    ...[
      ["archived", null],
      ["updated", null],
      ["erased", null],
    ],
  ]);
});

test("[DS6] a write that is sent again is answered again, and writes no row twice", async () => {
  await db.query("create table public.once (id text primary key, title text)");
  const { model } = await attach("public.once", { title: {} });
  const again = { key: key(), json: { id: "a", data: { title: "One" } } };
  const first = await app.call("POST", `/v1/models/${model}`, again);
  await db.query("delete from once");
  const second = await app.call("POST", `/v1/models/${model}`, again);
  expect(second.text).toBe(first.text);
  expect(await rows("once")).toEqual([]);
});

test("[DS15] writers through Holdfast and in SQL on the same rows: table, records and log end equal, in one order", async () => {
  await db.query(`create table public.fought (id text primary key, title text, version int not null default 0);
    create function public.next_version() returns trigger language plpgsql as $$
      begin new.version := old.version + 1; return new; end $$;
    create trigger next_version before update on fought for each row execute function next_version();
    insert into fought select 'r' || n, 'Start' from generate_series(1, 8) n`);
  const { model } = await attach("public.fought", { title: {}, version: { type: "integer" } });
  const through = Promise.all(
    Array.from({ length: 4 }, async (_, w) => {
      for (let i = 0; i < 40; i++) {
        const { status, text } = await update(model, `r${1 + ((i * 3 + w) % 8)}`, { title: `H${w}.${i}` });
        expect(status, text).toBe(200);
      }
    }),
  );
  const inSql = Promise.all(
    Array.from({ length: 3 }, async (_, w) => {
      const client = await app.connect();
      for (let i = 0; i < 40; i++)
        await client.query("update fought set title = $1 where id = $2", [`S${w}.${i}`, `r${1 + ((i * 5 + w) % 8)}`]);
      await client.end();
    }),
  );
  await Promise.all([through, inSql]);
  const log = await entries(280);
  expect(log).toHaveLength(280);
  const versions = new Map<string, number>();
  for (const { id, data } of log) {
    expect(data?.version).toBe((versions.get(id) ?? 0) + 1);
    versions.set(id, Number(data?.version));
  }
  const last = new Map(log.map(({ id, data }) => [id, data]));
  expect(await rows("fought")).toEqual([...last.values()].toSorted((a, b) => (`${a?.id}` < `${b?.id}` ? -1 : 1)));
});

test("[DS6] a table that has nothing but its key", async () => {
  await db.query("create table public.bare (id text primary key); insert into bare values ('a')");
  const { model } = await attach("public.bare", {});
  expect((await create(model, "b", {})).status).toBe(200);
  expect((await remove(model, "a")).status).toBe(200);
  await db.query("insert into bare values ('c')");
  expect((await entries(3)).map(spelled)).toEqual(["created b", "deleted a", "created c"]);
  expect(await rows("bare")).toEqual([{ id: "b" }, { id: "c" }]);
});
