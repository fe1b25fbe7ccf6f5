import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startEmbeddedPostgres } from "@holdfast/server";
import pg from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { fencesOf, filesOf } from "../docs/fences.ts";
import type {} from "./global-setup.ts";
import { holdfastIn, type InstalledServer, startInstalled } from "./installed-server.ts";
import { ADDRESS, commandsOf, openFolder, runTsx, startBrowser, startVite } from "./newcomer-page.ts";
import { ending, runIn } from "./run-command.ts";

const program = holdfastIn(inject("newcomer"));
const page = readFileSync(fileURLToPath(new URL("../../docs/existing-app.md", import.meta.url)), "utf8");
const commands = commandsOf(page).flatMap((text) => text.split("\n"));
const files = filesOf(page);
const textsOf = (wanted: string) => fencesOf(page).flatMap(({ language, text }) => (language === wanted ? text : []));

/** The only statement or edit of the page that begins like this, or contains it. */
function only(language: "sql" | "diff", part: string): string {
  const [found, second] = textsOf(language).filter((text) => text.includes(part));
  if (found === undefined || second !== undefined) throw new Error(`The page has not one ${language} with "${part}".`);
  return found;
}

/** The words of a command of the page that begins with `npx holdfast`. */
function wordsOf(beginning: string): string[] {
  const command = commands.find((line) => line.startsWith(beginning));
  if (command === undefined) throw new Error(`The page has no command that begins with ${beginning}.`);
  return command.split(" ").slice(2);
}

interface App {
  readonly folder: string;
  readonly db: pg.Client;
  /** Everything that the database has, outside of Postgres' own schemas. */
  catalog(): Promise<unknown[]>;
  /** A command of the page, to its end. */
  holdfast(beginning: string): Promise<{ readonly stdout: string; readonly output: string }>;
  read(file: string): string;
  /** Writes the files of the page. Only the port differs. */
  save(server: InstalledServer): void;
  startServer(port?: string): Promise<InstalledServer>;
  /** Changes the file that has its lines, as a reader does. */
  edit(part: string): void;
  push(): Promise<void>;
  /** Adds the model that `init` has printed to the schema, as a reader does. */
  addModel(printed: string): void;
}

/** A database with the table of the page, and a folder with its address. */
async function openApp(name: string): Promise<App> {
  const postgres = await startEmbeddedPostgres({ throwaway: true });
  onTestFinished(() => postgres.stop());
  const db = new pg.Client({ connectionString: postgres.url });
  await db.connect();
  onTestFinished(() => db.end());
  await db.query(only("sql", "create table public.tasks"));
  const folder = openFolder(name);
  // As `npm init` writes it, in the folder of many an app.
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "commonjs" }));
  writeFileSync(join(folder, ".env"), `DATABASE_URL="${postgres.url}"\n`);
  const read = (file: string) => readFileSync(join(folder, file), "utf8");
  return {
    folder,
    db,
    read,
    async catalog() {
      const { rows } = await db.query(`
        select 'schema' as kind, nspname::text as name from pg_namespace where nspname !~ '^pg_(toast|temp)'
        union all select 'relation', oid::regclass::text from pg_class where relnamespace::regnamespace::text !~ '^pg_'
        union all select 'function', oid::regprocedure::text from pg_proc where pronamespace::regnamespace::text !~ '^pg_'
        union all select 'trigger', tgrelid::regclass || ' ' || tgname from pg_trigger where not tgisinternal
        union all select 'extension', extname from pg_extension
        order by 1, 2`);
      return rows;
    },
    async holdfast(beginning) {
      const ran = await ending(runIn(folder, program, wordsOf(beginning)));
      expect(ran.code, ran.output).toBe(0);
      return ran;
    },
    startServer: async (port = "0") => {
      const server = await startInstalled(program, folder, port, []);
      onTestFinished(() => server.stop());
      return server;
    },
    save(server) {
      for (const [file, text] of files)
        if (file !== "schema.ts") writeFileSync(join(folder, file), text.replace(ADDRESS, server.url));
    },
    edit(part) {
      const lines = only("diff", part).trimEnd().split("\n");
      const side = (sign: string) =>
        lines.flatMap((line) => (line.startsWith(sign) || line.startsWith(" ") ? `${line.slice(1)}\n` : [])).join("");
      const [old, changed] = [side("-"), side("+")];
      const file = ["schema.ts", "vite.config.mts"].find((one) => read(one).split(old).length === 2);
      if (file === undefined) throw new Error(`No file has once:\n${old}`);
      writeFileSync(
        join(folder, file),
        read(file).replace(old, () => changed),
      );
    },
    async push() {
      const pushed = await runTsx(folder, "push.ts");
      expect(pushed, pushed.output).toMatchObject({
        code: 0,
        output: expect.stringMatching(/^The server has version/),
      });
    },
    addModel(printed) {
      const [, model] = /^Add to its models, .*?\n\n(.*?^\},\n)/ms.exec(printed) ?? [];
      if (model === undefined) throw new Error(`There is no model in:\n${printed}`);
      writeFileSync(
        join(folder, "schema.ts"),
        read("schema.ts").replace("models: {\n", (start) => start + model),
      );
    },
  };
}

/** The app after step 2: its table is attached, and the server runs. */
async function openAttached(name: string): Promise<App & { readonly server: InstalledServer }> {
  const app = await openApp(name);
  await app.holdfast("npx holdfast init --tables public.tasks");
  const server = await app.startServer();
  app.save(server);
  return { ...app, server };
}

/** A request of the backend. */
async function request(app: App, server: InstalledServer, method: string, path: string, body?: object) {
  const key = /^HOLDFAST_SECRET_KEY=(\S+)$/m.exec(app.read(".env"))?.[1];
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test("[DP8] the page about existing apps leads from a table to a list that follows SQL, and writes it", async () => {
  const app = await openApp("existing-app");
  expect(commands).toContain("npx holdfast init");
  expect((await app.holdfast("npx holdfast init --tables public.tasks")).stdout).toBe(textsOf("text")[0]);
  // Each begins with a comment.
  const source = (text: string) => text.replace(/^\/\/.*\n/, "");
  expect(source(app.read("schema.ts"))).toBe(source(files.get("schema.ts") ?? ""));
  expect(existsSync(join(app.folder, "first.mjs"))).toBe(true);

  expect(commands).toContain("npx holdfast");
  const server = await app.startServer();
  expect(["vite.config.mts", "tasks.tsx", "tasks.html"].filter((name) => !files.has(name))).toEqual([]);
  app.save(server);
  const url = await startVite(app.folder);
  const browser = await startBrowser();
  const ann = await browser.newPage();
  await ann.goto(`${url}tasks.html`);
  await ann.getByLabel("Call the bank").waitFor();
  await app.db.query(only("sql", "set title = 'Call the bank today'"));
  await ann.getByLabel("Call the bank today").check();
  const done = async () => (await app.db.query("select done from tasks where id = 't1'")).rows;
  await until(async () => expect(await done()).toEqual([{ done: true }]));

  server.stop();
  await server.ended;
  await ann.getByLabel("Call the bank today").uncheck();
  await app.startServer(new URL(server.url).port);
  await until(async () => expect(await done()).toEqual([{ done: false }]));
});

test("[DP18] a row that moves from one customer to another leaves the first one's list and comes into the other's", async () => {
  const app = await openAttached("customers");
  app.edit("groups:");
  await app.push();
  app.edit("syncGroups");
  const url = await startVite(app.folder);
  const browser = await startBrowser();
  const [acme, globex] = [await browser.newPage(), await browser.newPage()];
  await acme.goto(`${url}tasks.html?customer=acme`);
  await globex.goto(`${url}tasks.html?customer=globex`);
  const [callBank, orderPaper] = ["Call the bank", "Order paper"];
  await acme.getByLabel(callBank).waitFor();
  await globex.getByLabel(orderPaper).waitFor();
  expect(await acme.getByLabel(orderPaper).count()).toBe(0);
  expect(await globex.getByLabel(callBank).count()).toBe(0);

  await app.db.query(only("sql", "set organization_id = 'globex'"));
  await globex.getByLabel(callBank).waitFor();
  await acme.getByLabel(callBank).waitFor({ state: "detached" });
  await globex.getByLabel(callBank).check();
  const { rows } = await app.db.query("select id from tasks where organization_id = 'acme'");
  expect(rows).toEqual([]);

  const tokenOf = async (customer: string) => await (await fetch(`${url}token?customer=${customer}`)).text();
  const move = async (customer: string) =>
    await fetch(`${app.server.url}/v1/models/task/t2`, {
      method: "PATCH",
      headers: {
        authorization: `Bearer ${await tokenOf(customer)}`,
        "content-type": "application/json",
        "idempotency-key": customer,
      },
      body: JSON.stringify({ data: { organizationId: "acme" } }),
    });
  for (const customer of ["globex", "acme"]) {
    const refused = await move(customer);
    expect(await refused.json(), customer).toMatchObject({ code: "capability_scope_denied" });
  }
  const shown = await fetch(`${app.server.url}/v1/models/task`, {
    headers: { authorization: `Bearer ${await tokenOf("acme")}` },
  });
  expect(await shown.json()).toMatchObject({ data: [] });
});

test("[DP19] records whose keys the database makes are created in SQL, until the table has another key", async () => {
  const app = await openAttached("made-keys");
  const ask = (method: string, path: string, body?: object) => request(app, app.server, method, path, body);
  await app.db.query(only("sql", "create table public.comments"));
  const attach = () => app.holdfast("npx holdfast init --tables public.comments");
  const attached = await attach();
  expect(attached.stdout).toMatch(/^attached: public\.comments as comment\n/);
  app.addModel(attached.output);
  await app.push();
  await app.db.query(only("sql", "insert into public.comments"));
  await until(async () => expect((await ask("GET", "/v1/models/comment/1")).status).toBe(200));
  const data = { organizationId: "globex", body: "Written by a client" };
  const create = (id: string) => ask("POST", "/v1/models/comment", { id, data });
  expect(await create("2")).toMatchObject({ status: 409, body: { code: "client_id_required" } });
  expect((await ask("PATCH", "/v1/models/comment/1", { data: { body: "By mail" } })).status).toBe(200);
  const rows = async () => (await app.db.query("select id, body from comments order by id")).rows;
  expect(await rows()).toEqual([{ id: 1, body: "By mail" }]);

  const [, detach = ""] = /`(npx holdfast tables detach comment[^`]*)`/.exec(page) ?? [];
  const detached = await ending(runIn(app.folder, program, detach.split(" ").slice(2)));
  expect(detached.code, detached.output).toBe(0);
  await app.db.query(only("sql", "alter table public.comments"));
  await attach();
  expect(await create(crypto.randomUUID())).toMatchObject({ status: 200 });
  expect(await rows()).toEqual([
    { id: 1, body: "By mail" },
    { id: 2, body: "Written by a client" },
  ]);
});

test("[DP20] a browser that stays open goes on through a migration that adds a column, and one that renames one", async () => {
  const app = await openAttached("migration");
  await app.db.query(only("sql", "create table public.comments"));
  app.addModel((await app.holdfast("npx holdfast init --tables public.comments")).output);
  const url = await startVite(app.folder);
  const ann = await (await startBrowser()).newPage();
  // Vite would load the changed schema into the page. A page in production stays as it is.
  await ann.routeWebSocket(
    (socket) => socket.port === new URL(url).port,
    () => {},
  );
  await ann.goto(`${url}tasks.html`);
  await ann.getByLabel("Call the bank").waitFor();
  await app.db.query(only("sql", "add column due"));
  await app.db.query("update tasks set title = 'By SQL', due = '2026-01-31' where id = 't1'");
  await ann.getByLabel("By SQL").waitFor();
  app.edit("due:");
  await app.push();
  await until(async () =>
    expect((await request(app, app.server, "GET", "/v1/models/task/t1")).body).toMatchObject({
      data: { due: "2026-01-31" },
    }),
  );
  await app.db.query("update tasks set title = 'Again' where id = 't1'");
  await ann.getByLabel("Again").waitFor();

  await app.db.query(only("sql", "rename column title"));
  const listed = await ending(runIn(app.folder, program, ["tables", "list"]));
  expect(listed.output).toMatch(/broken.*has no column title any more/s);
  await app.db.query("update tasks set name = 'Renamed' where id = 't1'");
  await ann.getByLabel("Again").check();
  expect(await ann.getByLabel("Again").isChecked()).toBe(true);
  app.edit("columns:");
  await app.push();
  await ann.getByLabel("Renamed").waitFor();
  await until(async () =>
    expect((await app.db.query("select name, done from tasks where id = 't1'")).rows).toEqual([
      { name: "Renamed", done: true },
    ]),
  );
  expect(await ann.getByLabel("Renamed").isChecked()).toBe(true);
});

/** As in many music stores: quoted names, an identity, a `serial`, a table between two others. */
const MUSIC = `
  create table "Artist" ("ArtistId" int generated by default as identity, "Name" varchar(120),
    constraint "PK_Artist" primary key ("ArtistId"));
  create table "Album" ("AlbumId" serial, "Title" varchar(160) not null, "ArtistId" int not null references "Artist",
    "Total" numeric(10,2), "Cover" bytea, constraint "PK_Album" primary key ("AlbumId"));
  create table "Playlist Album" ("PlaylistId" int, "AlbumId" int references "Album", "order" int,
    constraint "PK_Playlist Album" primary key ("PlaylistId", "AlbumId"));
  insert into "Artist" ("Name") values ('AC/DC');
  insert into "Album" ("Title", "ArtistId", "Cover") values ('Let There Be Rock', 1, '\\x89');
  insert into "Playlist Album" values (1, 1, 1)`;

test("[DS41] [DP8] in a database with quoted names and a key of two columns, what init prints leads to all tables", async () => {
  const app = await openApp("music");
  await app.db.query(MUSIC);
  const init = (...tables: string[]) => ending(runIn(app.folder, program, ["init", "--yes", ...tables]));
  const first = await init();
  expect(first.stdout, first.output).toMatch(
    /^attached: public\."Album" as album\nattached: public\."Artist" as artist\nattached: public\.tasks as task\n/,
  );
  const [, statement = ""] = /^refused: public\."Playlist Album": .*: run "(.*)"\.$/m.exec(first.output) ?? [];
  await app.db.query(statement);
  const second = await init("--tables", 'public."Playlist Album"');
  expect(second.stdout, second.output).toMatch(/^attached: public\."Playlist Album" as playlistAlbum\n/);
  app.addModel(second.output);
  const server = await app.startServer();
  app.save(server);
  await app.push();
  const read = async (path: string) => (await request(app, server, "GET", `/v1/models/${path}`)).body;
  await app.db.query(`update "Album" set "Title" = 'High Voltage'; update "Playlist Album" set "order" = 2`);
  await until(async () =>
    expect(await read("album/1")).toMatchObject({ data: { title: "High Voltage", artistId: 1 } }),
  );
  const { rows } = await app.db.query('select id from "Playlist Album"');
  await until(async () =>
    expect(await read(`playlistAlbum/${rows[0].id}`)).toMatchObject({ data: { playlistId: 1, albumId: 1, order: 2 } }),
  );
});

test("[DP21] after its last step the database is as it was, with the rows that it has now", async () => {
  const app = await openApp("take-out");
  await app.db.query(only("sql", "create table public.comments"));
  const before = await app.catalog();
  await app.holdfast("npx holdfast init --tables public.tasks");
  await app.holdfast("npx holdfast init --tables public.comments");
  const server = await app.startServer();
  await app.db.query("update tasks set done = true");
  expect((await app.holdfast("npx holdfast tables detach task")).stdout).toMatch(/^detached: task; /);
  const triggers = "select tgrelid::regclass::text as name from pg_trigger where tgname like 'holdfast%' group by 1";
  expect((await app.db.query(triggers)).rows).toEqual([{ name: "comments" }]);
  server.stop();
  await server.ended;
  await app.db.query(only("sql", "drop schema holdfast"));
  expect(await app.catalog()).toEqual(before);

  await app.db.query("drop table comments");
  const alone = await app.catalog();
  await app.holdfast("npx holdfast init --tables public.tasks");
  await app.holdfast("npx holdfast tables detach task");
  await app.db.query(only("sql", "drop schema holdfast"));
  expect(await app.catalog()).toEqual(alone);
  expect((await app.db.query("select id, done from tasks order by id")).rows).toEqual([
    { id: "t1", done: true },
    { id: "t2", done: true },
  ]);
});
