import { spawnSync } from "node:child_process";
import { eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { beforeEach, expect, test } from "vitest";
import { spelled, startWithTables } from "../../testing/attached-tables.ts";

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

const hasPsql = spawnSync("psql", ["--version"]).status === 0;

test.skipIf(!hasPsql)(
  "[DS3] rows that psql writes: COPY, update … from, truncate (skipped where there is no psql)",
  async () => {
    await db.query(
      "create table public.stock (id int primary key, title text); create table public.titles (id int, title text)",
    );
    await attach("public.stock", { title: {} });
    const script = [
      ...[
        "copy public.stock from stdin;",
        "1\tOne",
        "2\tTwo",
        "\\.",
        "insert into public.titles values (2, 'Second');",
      ],
      "update public.stock s set title = t.title from public.titles t where t.id = s.id;",
      ...[
        "begin;",
        "delete from public.stock where id = 1;",
        "savepoint a;",
        "delete from public.stock;",
        "rollback to a;",
      ],
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
