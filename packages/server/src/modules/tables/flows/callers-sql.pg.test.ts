import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { beforeEach, expect, test } from "vitest";
import { spelled, startWithTables } from "../../../testing/attached-tables.ts";

const { app, db, attach, entries, mark } = await startWithTables();
beforeEach(async () => void (await mark()));

test("[DS3] rows that Drizzle writes: inserts, upserts, transactions that roll back, deletes", async () => {
  await db.query("create table public.tasks (id text primary key, title text, done int not null default 0)");
  const { model } = await attach("public.tasks", { title: {}, done: { type: "integer" } });
  const tasks = pgTable("tasks", { id: text().primaryKey(), title: text(), done: integer().notNull().default(0) });
  const orm = drizzle(db);
  await orm.insert(tasks).values([
    { id: "a", title: "One" },
    { id: "b", title: "Two" },
  ]);
  await orm
    .insert(tasks)
    .values({ id: "a", title: "First" })
    .onConflictDoUpdate({ target: tasks.id, set: { title: sql`excluded.title` } });
  await orm.transaction(async (tx) => {
    await tx.update(tasks).set({ done: 1 }).where(eq(tasks.id, "b"));
    await tx
      .transaction(async (inner) => {
        await inner.delete(tasks);
        inner.rollback();
      })
      .catch(() => {});
  });
  await orm.delete(tasks).where(eq(tasks.id, "a"));
  const log = await entries(5);
  expect(log.map(spelled)).toEqual(["created a One", "created b Two", "updated a First", "updated b Two", "deleted a"]);
  const { body } = await app.call("GET", `/v1/models/${model}/b`);
  expect(body.data).toEqual({ id: "b", title: "Two", done: 1 });
});

test("[DS47] a trigger of the caller's can refuse SQL that writes claimed rows; the claim's holder writes them", async () => {
  const page = readFileSync(new URL("../../../../../../docs/own-tables.md", import.meta.url), "utf8");
  const sql = /create function public\.respect_claims[\s\S]*?execute function public\.respect_claims\(\);/.exec(
    page,
  )?.[0];
  await db.query("create table public.slides (id text primary key, title text)");
  await db.query("insert into slides values ('a', 'One'), ('b', 'One')");
  await db.query(sql ?? "");
  await db.query(`create role app_role; grant select, update, delete on slides to app_role;
    grant usage on schema holdfast to app_role`);
  const { model } = await attach("public.slides", { title: {} });
  const claim = await app.call("POST", "/v1/claims", { json: { target: { model, id: "a" } } });
  expect(claim.status, claim.text).toBeLessThan(300);
  const asApp = async (statement: string) => {
    await db.query("begin; set local role app_role");
    return db.query(statement).finally(() => db.query("rollback"));
  };
  const refused = { code: "HF006", message: expect.stringMatching(/^slides a is claimed by .* until 20\S+Z\.$/) };
  await expect(asApp("update slides set title = 'Two' where id = 'a'")).rejects.toMatchObject(refused);
  await expect(asApp("delete from slides")).rejects.toMatchObject(refused);
  await asApp("update slides set title = 'Two' where id = 'b'");
  const written = await app.call("PATCH", `/v1/models/${model}/a`, { key: "mine", json: { data: { title: "Mine" } } });
  expect([written.status, (await db.query("select title from slides where id = 'a'")).rows]).toEqual([
    ...[200, [{ title: "Mine" }]],
  ]);
  expect((await app.call("DELETE", `/v1/claims/${claim.body.id}`)).status).toBeLessThan(300);
  await asApp("update slides set title = 'Two' where id = 'a'");
  await db.query("drop owned by app_role; drop role app_role");
});

test("[DS48] what SQL has just committed is read with a position that has it, so that a write in view of it is no conflict", async () => {
  await db.query("create table public.fresh (id text primary key, title text); insert into fresh values ('a', '0')");
  const { model } = await attach("public.fresh", { title: {} });
  const stampOf = async (how: number): Promise<[string, number]> => {
    const { body, text } = await app.call(
      "GET",
      [`/v1/models/${model}/a`, `/v1/models/${model}`, `/v1/snapshot?model=${model}`][how % 3] ?? "",
    );
    if (how % 3 === 0) return [(body.data as { title: string }).title, body.stamp as number];
    if (how % 3 === 1) return [(body.data as { title: string }[])[0]?.title ?? "", body.stamp as number];
    const [head = "", line = ""] = text.split("\n");
    return [
      (JSON.parse(line) as { data: { title: string } }).data.title,
      (JSON.parse(head) as { stamp: number }).stamp,
    ];
  };
  // A read waits a quarter of a second for the log. On a machine so busy that this is too short, it is read again.
  let slow = 0;
  for (let n = 0; n < 9 + slow; n++) {
    await db.query("update fresh set title = $1", [`By SQL ${n}`]);
    const begun = performance.now();
    const [title, readAt] = await stampOf(n);
    const isSlow = performance.now() - begun > 200;
    expect(title).toBe(`By SQL ${n}`);
    const operations = [{ action: "update", model, id: "a", data: { title: `Seen ${n}` }, readAt, onStale: "reject" }];
    const { status, text } = await app.call("POST", "/v1/commits", { key: `fresh_${n}`, json: { operations } });
    if (status === 409 && isSlow && slow < 20) slow += 1;
    else expect(status, text).toBe(200);
  }
});

const hasPsql = spawnSync("psql", ["--version"]).status === 0;

test.skipIf(!hasPsql)(
  "[DS3] rows that psql writes: COPY, update … from, truncate (skipped where there is no psql)",
  async () => {
    await db.query(
      "create table public.stock (id int primary key, title text); create table public.titles (id int, title text)",
    );
    await attach("public.stock", { title: {} });
    const script = [
      ...["copy public.stock from stdin;", "1\tOne", "2\tTwo", "\\."],
      ...["insert into public.titles values (2, 'Second');"],
      "update public.stock s set title = t.title from public.titles t where t.id = s.id;",
      ...["begin;", "delete from public.stock where id = 1;", "savepoint a;", "delete from public.stock;"],
      ...["rollback to a;"],
      ...["commit;", "truncate public.stock;"],
    ];
    const { status, stderr } = spawnSync("psql", ["-X", "-v", "ON_ERROR_STOP=1", app.databaseUrl], {
      input: script.join("\n"),
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    expect((await entries(5)).map(spelled)).toEqual([
      ...["created 1 One", "created 2 Two", "updated 2 Second", "deleted 1", "deleted 2"],
    ]);
  },
);
