import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../../scripts/testing/until.ts";
import { builtInHooks } from "../modules/open-modules.ts";
import { openTableTools } from "../modules/tables/flows/table-tools.ts";
import { startApp } from "../testing/app.ts";
import { commandLine } from "../testing/programs/command-line.ts";
import { runSql } from "../testing/run-sql.ts";

const app = await startApp();
const folder = temporaryFolder("tables");
const cli = commandLine(app, folder);
const ORG = ["--org", app.organization];
const run = (line: string) =>
  cli.run(...line.split(" ").slice(2), ...(line.includes("inspect") || line.includes("list") ? [] : ORG));

/** The blocks of the page, in order: `["sql", "create table …"]`. */
const page = readFileSync(new URL("../../../../docs/own-tables.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/```(sql|sh)\n(.*?)```/gs)].map(([, kind, text = ""]) => ({ kind, text }));

async function runBlock({ kind, text }: (typeof blocks)[number]): Promise<string> {
  if (kind === "sql") {
    await app.sql(text);
    return "";
  }
  let printed = "";
  for (const line of text.trim().split("\n")) {
    const { code, out, err } = await run(line);
    expect(code, `${line}: ${err}`).toBe(0);
    printed += out;
  }
  return printed;
}

const readSlide = async (id: string) =>
  (await app.call("GET", `/v1/models/slide/${id}`)).body.data as Record<string, unknown>;

test("[DS1] [DS2] [DS9] [DS10] [DS11] the commands and statements of the page do what it says", async () => {
  const [create, inspect, attach, change, detach] = blocks;
  if (!create || !inspect || !attach || !change || !detach) throw new Error("The page has other blocks.");
  // The tests' organization has a model called slide: the page's has none.
  await app.call("POST", "/v1/schema", { json: { models: { other: { fields: {} } }, force: true } });
  await runBlock(create);
  const { models } = JSON.parse(await runBlock(inspect)) as {
    models: Record<string, { fields: Record<string, unknown> }>;
  };
  expect(models.slide?.fields).toMatchObject({
    deckId: { type: "string", references: "deck", required: true },
    title: { type: "string", required: true },
    price: { type: "string", nullable: true },
    state: { type: "enum", values: ["draft", "done"], default: "draft" },
  });
  const attached = await runBlock(attach);
  expect(attached).toContain("attached: public.slides as slide");
  expect(attached).toMatch(/public\.slides +slide +org_\w+ +live +attached +0/);
  expect(attached).toContain("slide: 1 rows, equal");
  expect(await readSlide("s1")).toMatchObject({ title: "Welcome", price: "1.50", state: "draft" });
  await runBlock(change);
  await until(async () => (await readSlide("s2")) !== undefined);
  expect(await readSlide("s1")).toMatchObject({ title: "Hello", state: "done" });
  expect(await runBlock(detach)).toBe("detached: slide; its records stay\n");
  expect(await readSlide("s2")).toMatchObject({ title: "Thanks" });
  const write = await app.call("PATCH", "/v1/models/slide/s2", { key: "after", json: { data: { title: "Mine" } } });
  expect(write.status).toBe(200);
  expect(
    await app.sql(
      "select tgname from pg_trigger where tgname like 'holdfast%' and tgrelid = 'public.slides'::regclass",
    ),
  ).toEqual([]);
});

test("[DS9] tables that cannot be attached, and names that do not exist, are refused with a sentence, and nothing is attached", async () => {
  const attachments = () => app.sql("select model from holdfast.attached_table");
  const before = await attachments();
  await app.sql("create table public.nokey (a text); create view public.seen as select 1 as id");
  const inspected = await cli.run("tables", "inspect", "nokey", "seen");
  expect(inspected.code).toBe(1);
  expect(inspected.err).toContain("refused: public.nokey:");
  expect(inspected.err).toContain("refused: public.seen:");
  const attached = await cli.run("tables", "attach", "nokey", "--yes", ...ORG);
  expect(attached.code).toBe(1);
  expect(attached.err).toContain("Nothing was attached.");
  const unknown = await cli.run("tables", "attach", "nothere", "--yes", ...ORG);
  expect(unknown.err).toContain(" has no table nothere. Does DATABASE_URL name the database with your tables?");
  expect(await attachments()).toEqual(before);
});

test("[DS9] inspect leaves a database that Holdfast has never seen as it is", async () => {
  await app.sql("create database never_seen");
  const url = new URL(app.databaseUrl);
  url.pathname = "/never_seen";
  await runSql(url.href, "create table public.plans (id text primary key, title text)");
  const words = ["tables", "inspect", "plans"];
  const inspected = await cli.start(words, { DATABASE_URL: url.href }).ended;
  expect(inspected.err).toBe("");
  expect(JSON.parse(inspected.out).models).toHaveProperty("plan");
  expect(await runSql(url.href, "select from pg_namespace where nspname = 'holdfast'")).toEqual([]);
  await app.sql("drop database never_seen");
});

test("[DS10] without a terminal a command that changes something wants --yes, and verify says what differs", async () => {
  await app.sql("create table public.notes (id int primary key, title text)");
  const asked = await cli.run("tables", "attach", "notes", ...ORG);
  expect(asked.code).toBe(1);
  expect(asked.err).toContain("Add --yes");
  expect((await cli.run("tables", "attach", "notes", "--yes", ...ORG)).code).toBe(0);
  await app.sql("insert into notes values (1, 'One'), (2, 'Two')");
  await until(async () => (await app.sql("select from holdfast.captured_change limit 1")).length === 0);
  await app.sql(
    "alter table notes disable trigger all; update notes set title = 'Uno' where id = 1; delete from notes where id = 2; insert into notes values (3, 'Three'); alter table notes enable trigger all",
  );
  const differs = await cli.run("tables", "verify", "note", ...ORG);
  expect(differs.code).toBe(1);
  expect(differs.out).toBe(
    "note: 2 rows, 1 with other values than the log says, 1 that the log has and the table has not\n",
  );
  const repaired = await cli.run("tables", "verify", "note", "--repair", ...ORG);
  expect(repaired.out).toContain("2 repaired");
  expect((await app.call("GET", "/v1/models/note/2")).status).toBe(404);
  await until(async () => (await app.sql("select from holdfast.captured_change limit 1")).length === 0);
  const equal = await cli.run("tables", "verify", "note", ...ORG);
  expect(equal.out).toBe("note: 2 rows, equal\n");
});

test("[DS178] the table of the only model is detached with its records, and the tenant takes another one", async () => {
  const one = await startApp();
  const alone = commandLine(one, folder);
  const { organization } = one;
  const words = ["--yes", "--org", organization];
  await one.call("POST", "/v1/schema", { json: { models: { other: { fields: {} } }, force: true } });
  await one.sql("create table public.plans (id text primary key, title text); insert into plans values ('p', 'One')");
  const attach = () => alone.run("tables", "attach", "public.plans", ...words);
  expect((await attach()).code).toBe(0);
  const { models } = (await one.call("GET", "/v1/schema")).body as { models: { plan: object } };
  expect((await one.call("POST", "/v1/schema", { json: { models: { plan: models.plan }, force: true } })).status).toBe(
    201,
  );

  const detached = await alone.run("tables", "detach", "plan", "--drop", ...words);
  expect(detached, detached.err).toMatchObject({ code: 0, out: "detached: plan; its records are removed\n" });
  expect((await one.call("GET", "/v1/schema")).body.models).toEqual({});
  expect((await one.call("GET", "/v1/models/plan/p")).body.code).toBe("unknown_model");
  expect((await one.call("GET", "/v1/log?after=0")).body.data).toEqual([]);
  expect((await one.call("GET", "/v1/snapshot")).status).toBe(200);
  expect((await attach()).code).toBe(0);
  expect((await one.call("GET", "/v1/models/plan/p")).body.data).toMatchObject({ title: "One" });
});

test("[DS12] a push that drops, invents or gives another key to an attached table is refused and names the command", async () => {
  const { body } = await app.call("GET", "/v1/schema");
  const models = body.models as Record<string, { fields: Record<string, unknown>; table?: object }>;
  const push = async (changed: object) =>
    (await app.call("POST", "/v1/schema", { json: { models: changed, force: true } })).body as never as {
      error: { code: string; message: string };
    };
  const { note, ...others } = models;
  const dropped = await push(others);
  expect(JSON.stringify(dropped)).toContain("holdfast tables detach");
  const rekeyed = await push({ ...models, note: { ...note, table: { ...note?.table, key: "title" } } });
  expect(JSON.stringify(rekeyed)).toContain("detach it first");
  const invented = await push({ ...models, made: { fields: {}, table: { name: "public.made", key: "id" } } });
  expect(JSON.stringify(invented)).toContain("holdfast tables attach public.made");
});

test("[DS55] a table that was detached is attached again with --replace: its rows take the records' place", async () => {
  await app.sql(
    "create table public.moods (id text primary key, title text); insert into moods values ('a', 'One'), ('b', 'Two')",
  );
  expect((await cli.run("tables", "attach", "public.moods", "--yes", ...ORG)).code).toBe(0);
  expect((await cli.run("tables", "detach", "mood", "--yes", ...ORG)).code).toBe(0);
  const write = await app.call("PATCH", "/v1/models/mood/a", { key: "mood", json: { data: { title: "Ours" } } });
  expect(write.status).toBe(200);
  await app.sql("delete from moods where id = 'b'");
  const refused = await cli.run("tables", "attach", "public.moods", "--yes", ...ORG);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("With --replace they are removed")]);
  const replaced = await cli.run("tables", "attach", "public.moods", "--replace", "--yes", ...ORG);
  expect([replaced.code, replaced.err]).toEqual([
    0,
    expect.stringContaining("The records that the model has now are removed."),
  ]);
  const { body } = await app.call("GET", "/v1/models/mood");
  expect(body.data).toMatchObject([{ id: "a", title: "One" }]);
  expect((await cli.run("tables", "verify", "mood", ...ORG)).out).toBe("mood: 1 rows, equal\n");
  expect((await app.call("PATCH", "/v1/models/mood/a", { key: "m2", json: { data: { title: "Both" } } })).status).toBe(
    200,
  );
  expect(await app.sql("select title from moods")).toEqual([{ title: "Both" }]);
});

test("[DS57] with --emit each row gets an entry, once, and what was interrupted goes on", async () => {
  await app.sql(
    "create table public.items (id int primary key, title text); insert into items select g, 'Item ' || g from generate_series(1, 1200) g",
  );
  expect((await cli.run("tables", "attach", "public.items", "--yes", ...ORG)).code).toBe(0);
  await app.sql("update items set title = 'Changed' where id = 3");
  const emitted = async () =>
    await app.sql<{ text: string }>(
      "select verb || ' ' || actor as text, count(*)::int as n from holdfast.log where model = 'item' group by 1",
    );
  await until(async () => (await emitted()).length > 0);
  const stopping = new AbortController();
  const tools = openTableTools(app.pool(), { ...builtInHooks, schemaPushed: [] }, app.databaseUrl);
  const tenant = { organization: app.organization, livemode: true };
  const broken = tools.emit(tenant, "item", { stopping: stopping.signal, progress: () => stopping.abort() });
  await expect(broken).rejects.toThrow();
  const run = await cli.run("tables", "attach", "public.items", "--emit", "--yes", ...ORG);
  expect([run.code, run.out]).toEqual([
    0,
    "attached: public.items as item\ncaptured: the rows of item; the server records them\n",
  ]);
  await until(async () => (await app.sql("select from holdfast.captured_change limit 1")).length === 0);
  expect(await emitted()).toEqual(
    expect.arrayContaining([
      { text: "created database", n: 1199 },
      { text: "updated database", n: 1 },
    ]),
  );
  expect(await emitted()).toHaveLength(2);
  expect((await cli.run("tables", "verify", "item", ...ORG)).out).toBe("item: 1200 rows, equal\n");
});

test("[DS13] a restored organization has the records of its tables as records that Holdfast writes", async () => {
  const file = join(folder, "dump.json");
  expect((await cli.run("dump", file, ...ORG)).code).toBe(0);
  const { out } = await cli.run("restore", file, "--new-id", "--json");
  const { organization } = JSON.parse(out) as { organization: string };
  const { out: made } = await cli.run("keys", "create", "--org", organization, "--json");
  const { token } = JSON.parse(made) as { token: string };
  const read = await app.call("GET", "/v1/models/note/1", { token });
  expect(read.body.data).toMatchObject({ title: "Uno" });
  const write = await app.call("PATCH", "/v1/models/note/1", { token, key: "w", json: { data: { title: "Ours" } } });
  expect(write.status, write.text).toBe(200);
});

test("[DS11] what cannot be detached is refused while the triggers are still there", async () => {
  await app.sql("create table public.tags (id text primary key, title text)");
  expect((await cli.run("tables", "attach", "public.tags", "--yes", ...ORG)).code).toBe(0);
  const { body } = await app.call("GET", "/v1/schema");
  const models = { ...(body.models as object), label: { fields: { tag: { type: "string", references: "tag" } } } };
  expect((await app.call("POST", "/v1/schema", { json: { models } })).status).toBe(201);
  const refused = await cli.run("tables", "detach", "tag", "--drop", "--yes", ...ORG);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain('references "tag"');
  const triggers = await app.sql(
    "select from pg_trigger where tgname like 'holdfast%' and tgrelid = 'public.tags'::regclass",
  );
  expect(triggers.length).toBe(5);
});
