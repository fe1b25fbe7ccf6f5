import { beforeEach, expect, test } from "vitest";
import { until } from "../../../../../../scripts/testing/until.ts";
import { spelled, startWithTables } from "../../../testing/attached-tables.ts";

// What SQL commits while a round writes rows, before it locks those that triggers change: it was not there when the round began.

const { app, db, attach, entries, mark } = await startWithTables();
const other = await app.connect();
beforeEach(mark);

await db.query(`
  create table public.decks (id text primary key, title text);
  create table public.slides (id text primary key, title text, deck text);
  create function public.touch() returns trigger language plpgsql as $$
    begin perform pg_sleep(0.2); update decks set title = coalesce(title, '') || ' ' || new.title where id = new.deck; return null; end $$;
  create trigger touch after insert or update on slides for each row execute function touch();
  insert into decks values ('d', 'Deck');
  insert into slides values ('old', 'Old', null)`);
const decks = (await attach("public.decks", { title: {} })).model;
const slides = (await attach("public.slides", { title: {}, deck: {} })).model;

/** Resolves when a statement of the server waits for this. */
const isWaitingFor = (event: string) =>
  until(async () => {
    const found = await app.sql("select from pg_stat_activity where datname = current_database() and wait_event = $1", [
      event,
    ]);
    return found.length > 0;
  });
const create = (id: string, data: object, key: string) =>
  app.call("POST", `/v1/models/${slides}`, { key, json: { id, data } });

test("[DS8] a row that a trigger changes in a commit has what SQL changed in it before, before it in the log", async () => {
  const created = create("a", { title: "A", deck: "d" }, "trigger");
  await isWaitingFor("PgSleep");
  await db.query("update decks set title = 'By SQL' where id = 'd'");
  expect((await created).status).toBe(200);
  const log = await entries(3);
  expect(log.map(spelled)).toEqual(["updated d By SQL", "created a A", "updated d By SQL A"]);
  expect(new Set(log.map(({ model }) => model))).toEqual(new Set([decks, slides]));
  expect((await app.call("GET", `/v1/models/${decks}/d`)).body.data).toMatchObject({ title: "By SQL A" });
});

test("[DS8] a record that is created while its table is truncated is created after it", async () => {
  await other.query("begin; truncate slides");
  const created = create("b", { title: "B" }, "truncate");
  await isWaitingFor("relation");
  await other.query("commit");
  expect((await created).status).toBe(200);
  const log = (await entries(3)).map(spelled);
  expect([...log.slice(0, 2).toSorted(), log[2]]).toEqual(["deleted a", "deleted old", "created b B"]);
  expect((await app.call("GET", `/v1/models/${slides}/b`)).status).toBe(200);
});

test("[DS6] an update of a record that is not there creates none, also beside writes of other rows", async () => {
  const operations = [
    { action: "create", model: slides, id: "c", data: { title: "C" } },
    { action: "update", model: slides, id: "missing", data: { title: "M" } },
    { action: "update", model: "slide", id: "missing", data: { title: "M" } },
  ];
  const { status, body } = await app.call("POST", "/v1/commits", { key: "missing", json: { operations } });
  expect([status, body.missingIds]).toEqual([200, ["missing"]]);
  expect((await entries(1)).map(spelled)).toEqual(["created c C"]);
  expect((await app.call("GET", `/v1/models/${slides}/missing`)).status).toBe(404);
});
