import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { startApp } from "../testing/app.ts";
import { freshDatabase } from "../testing/database.ts";
import { commandLine, startCommand } from "../testing/programs/command-line.ts";
import { runSql } from "../testing/run-sql.ts";
import { chosenBy } from "./commands/init.ts";
import type { Attachable } from "./commands/tables.ts";

const TABLES = `
  create table public.decks (id text primary key, title text not null);
  create table public.slides (id text primary key, deck_id text not null references public.decks, "order" int);
  create table public.events (at timestamptz);
  create table public."_prisma_migrations" (id text primary key);
  create schema other;
  create table other.things (id text primary key);
  insert into public.decks values ('d', 'Plans')`;

/** An app's folder and its database, with the address as Prisma writes it. */
async function openApp() {
  const folder = temporaryFolder("init", onTestFinished);
  const { url } = await freshDatabase();
  // The template has ours already.
  await runSql(url, `drop schema holdfast cascade; ${TABLES}`);
  const address = new URL(url);
  address.searchParams.set("schema", "public");
  writeFileSync(join(folder, ".env"), `DATABASE_URL="${address.href}"`);
  return {
    url,
    read: (name: string) => readFileSync(join(folder, name), "utf8"),
    has: (name: string) => existsSync(join(folder, name)),
    init: (...words: string[]) => startCommand(["init", ...words], { cwd: folder, env: { HOME: folder } }).ended,
    /** By the program of the package. */
    run: (...words: string[]) =>
      startCommand(words, { cwd: folder, env: { HOME: folder }, program: "holdfast.ts" }).ended,
  };
}

test("[DS28] [DS139] in a folder with a database: tables become models, with keys, a schema and a first program", async () => {
  const { read, init } = await openApp();
  const { code, out, err } = await init("--yes");
  expect([code, out]).toEqual([0, "attached: public.decks as deck\nattached: public.slides as slide\n"]);
  expect(err).toMatch(/refused: public\.events: It has no primary key/);
  expect(err).not.toMatch(/_prisma_migrations|other\.things/);
  expect(err).toMatch(/To run it: npm install @holdfast\/sdk/);
  expect(read(".env")).toMatch(/^DATABASE_URL=".*"\nHOLDFAST_SECRET_KEY=sk_live_\w+\nHOLDFAST_MASTER_KEY=\S{44}\n$/);
  expect(read("schema.ts")).toMatch(/export const schema = defineSchema\(\{\n {2}models: \{\n {4}deck: \{/);
  expect(read("schema.ts")).toMatch(/deckId: \{[^}]*references: "deck"/);
  expect(read("first.mjs")).toMatch(/const model = "deck";/);
  const env = read(".env");
  const again = await init("--tables", "public.slides", "--yes");
  expect(again.code).toBe(0);
  expect(again.err).toMatch(/schema\.ts is there already: it was left as it is/);
  expect(again.err).toMatch(/Add to its models, unless they are there:\n\nslide: \{\n {2}fields: \{/);
  expect(read(".env")).toBe(env);
});

test("[DS28] a name that no table has, and a question that no one is there to answer, change nothing", async () => {
  const { url, has, init } = await openApp();
  const unknown = await init("--tables", "public.nothing", "--yes");
  expect(unknown.code).toBe(1);
  expect(unknown.err).toMatch(
    /The database \S+\/\w+ has no table public\.nothing\. Does DATABASE_URL name the database with your tables\?/,
  );
  expect(unknown.err).not.toContain(new URL(url).password || "no password");
  expect((await init()).err).toMatch(/Add --yes/);
  expect(has("schema.ts") || has("first.mjs")).toBe(false);
  expect(await runSql(url, "select from pg_namespace where nspname = 'holdfast'")).toEqual([]);
});

test("[DS54] in the folder that init has prepared, commands use its database without being told", async () => {
  const { url, init, run } = await openApp();
  const before = await run("tables", "list");
  expect(before.err).not.toContain(new URL(url).pathname);
  expect((await init("--yes")).code).toBe(0);
  expect((await run("tables", "list")).out).toMatch(/public\.decks +deck/);
  expect((await run("tables", "verify")).out).toBe("deck: 1 rows, equal\nslide: 0 rows, equal\n");
});

test("[DS175] one of several tables that a person chooses has a model that can be pushed again, and only notes of its own", async () => {
  const app = await startApp();
  await app.call("POST", "/v1/schema", { json: { models: { other: { fields: {} } }, force: true } });
  await app.sql(TABLES);
  await app.sql("create table public.prices (id serial primary key, price numeric)");
  const folder = temporaryFolder("init", onTestFinished);
  writeFileSync(
    join(folder, ".env"),
    `DATABASE_URL=${app.databaseUrl}\nHOLDFAST_MASTER_KEY=${app.masterKeys.join(",")}\n`,
  );
  const run = (...answers: string[]) => commandLine(app, folder, { answers }).run("init");
  const alone = await run("slides", "y");
  expect(alone, alone.err).toMatchObject({ code: 0, out: "attached: public.slides as slide\n" });
  expect(alone.err).toMatch(/refused: public\.events: .*Which ones\?/s);
  expect(alone.err).not.toContain("prices: ");
  const cli = commandLine(app, folder);
  const file = join(folder, "schema.json");
  writeFileSync(file, (await cli.run("schema", "show")).out);
  const pushed = await cli.run("schema", "push", file);
  expect(pushed.code, pushed.err).toBe(0);
  expect(pushed.out).toMatch(/^unchanged: /);

  await cli.run("tables", "detach", "slide", "--drop", "--yes", "--org", app.organization);
  const both = await run("slides, decks, prices", "y");
  expect(both, both.err).toMatchObject({
    code: 0,
    out: "attached: public.decks as deck\nattached: public.slides as slide\nattached: public.prices as price\n",
  });
  expect(both.err).toMatch(/Which ones\?.*note: public\.prices: price is numeric/s);
  expect((await app.call("GET", "/v1/schema")).body.models).toMatchObject({
    slide: { fields: { deckId: { references: "deck" } } },
  });
});

test("[DS176] a name without its capitals or its schema is answered with the table's name, as a shell takes it", async () => {
  const { url, init } = await openApp();
  await runSql(url, 'create table public."Album" ("AlbumId" int primary key, "Title" text)');
  const { code, err } = await init("--tables", "public.Album", "--yes");
  expect(code).toBe(1);
  expect(err).toContain(
    `has no table public.Album. It has public."Album". Capitals need their quotes, in a shell: 'public."Album"'`,
  );
  expect((await init("--tables", "things", "--yes")).err).toMatch(/has no table things\. It has other\.things\.\n/);
  expect((await init("--tables", 'public."Album"', "--yes")).out).toBe('attached: public."Album" as album\n');
});

test("[DS28] tables are chosen by number, by name with or without the schema, or by model", async () => {
  const decks = { table: { sqlName: "public.decks", name: "decks" }, modelName: "deck" } as Attachable;
  const slides = { table: { sqlName: "public.slides", name: "slides" }, modelName: "slide" } as Attachable;
  for (const word of ["2", "public.slides", "slides", "slide"]) expect(chosenBy(word, [decks, slides])).toBe(slides);
  for (const word of ["0", "3", "", "slid"]) expect(chosenBy(word, [decks, slides])).toBe(undefined);
});

test("[DS28] [DS139] a database of another service is left as it is, and its key stays valid", async () => {
  const app = await startApp();
  await app.sql("create table public.mine (id text primary key)");
  const folder = temporaryFolder("init", onTestFinished);
  const run = (env: Record<string, string>) =>
    startCommand(["init", "--yes"], { cwd: folder, env: { HOME: folder, DATABASE_URL: app.databaseUrl, ...env } })
      .ended;
  const refused = await run({});
  expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/already belongs to a Holdfast service/)]);
  const half = await run({ HOLDFAST_SECRET_KEY: app.keys.live });
  expect(half.err).toMatch(/set HOLDFAST_MASTER_KEY to the key of that service/);
  expect(existsSync(join(folder, ".env")) || existsSync(join(folder, "schema.ts"))).toBe(false);
  expect((await app.call("GET", "/v1/schema")).status).toBe(200);
  const keys = { HOLDFAST_SECRET_KEY: app.keys.live, HOLDFAST_MASTER_KEY: app.masterKeys.join(",") };
  const done = await run(keys);
  expect([done.code, done.out]).toEqual([0, "attached: public.mine as mine\n"]);
  expect((await app.call("GET", "/v1/models/mine")).body.data).toEqual([]);
});

test("[DS28] without a database it says what to set", async () => {
  const folder = temporaryFolder("init", onTestFinished);
  const { code, err } = await startCommand(["init"], { cwd: folder, env: { HOME: folder } }).ended;
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/There is no DATABASE_URL, neither in the environment nor in/),
  ]);
});
