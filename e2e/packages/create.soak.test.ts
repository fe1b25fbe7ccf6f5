import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@holdfast/server";
import pg from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { until } from "../../scripts/testing/until.ts";
import { freePort } from "../examples/install-example.ts";
import { create, createApp, linkPackages, startApp, violationsOf } from "./created-app.ts";
import type {} from "./global-setup.ts";
import { startBrowser } from "./newcomer-page.ts";
import { ending, runIn } from "./run-command.ts";
import { editInBothWindows, editOffline, openTwoPeople } from "./two-people.ts";

const LIMIT_S = 60;

/** `npm install` in a new app, with the packed packages that it names in place of those of the registry. */
async function install(app: string): Promise<void> {
  const packs = inject("packs").filter((path) => /holdfast-(sdk|react|server)-\d[^/\\]*$/.test(path));
  expect(packs).toHaveLength(3);
  const args = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  const { code, output } = await ending(runIn(app, "npm", [...args, ...packs]));
  expect(code, output).toBe(0);
}

test("[CR11] from the command to two windows of the template react that sync it takes a minute at most", async () => {
  // The network of the registry is not what is measured: this fills npm's cache.
  await install(await createApp("react"));

  const folder = temporaryFolder("create", onTestFinished);
  const port = String(await freePort());
  const startedAt = performance.now();
  const seconds = () => ((performance.now() - startedAt) / 1_000).toFixed(1);
  expect((await create(folder, ["my-app"])).code).toBe(0);
  const app = join(folder, "my-app");
  const created = seconds();
  await install(app);
  const installed = seconds();
  const running = await startApp(app, ["npm", "run", "dev"], { PORT: port, HOLDFAST_PORT: "0" });
  const started = seconds();
  const { ann, ben } = await openTwoPeople(running.urls.page);
  await editInBothWindows(ann, ben);
  const synced = seconds();
  console.log(
    `From create to two windows: ${synced} s (created ${created}, installed ${installed}, started ${started}; limit ${LIMIT_S}).`,
  );
  expect(Number(synced)).toBeLessThanOrEqual(LIMIT_S);

  await editOffline(ann, ben);
  const tests = await ending(runIn(app, "npm", ["test"]));
  expect(tests.code, tests.output).toBe(0);
  const build = await ending(runIn(app, "npm", ["run", "build"]));
  expect(build.code, build.output).toBe(0);
});

test("[CR12] the template existing-postgres follows SQL in the tables of its database", async () => {
  const app = await createApp("existing-postgres");
  linkPackages(app);
  const refused = await ending(runIn(app, process.execPath, ["dev.mjs"]));
  expect(refused).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^There is no DATABASE_URL\. Write .*\.env/),
  });

  const postgres = await startEmbeddedPostgres({ throwaway: true });
  onTestFinished(() => postgres.stop());
  const db = new pg.Client({ connectionString: postgres.url });
  await db.connect();
  onTestFinished(() => db.end());
  await db.query("create table tasks (id text primary key, title text not null, done boolean not null default false)");
  await db.query("insert into tasks values ('t1', 'Call the bank')");
  await db.query('create table "Album" ("AlbumId" int generated always as identity primary key, "Title" varchar(160))');
  await db.query(`insert into "Album" ("Title") select 'Album ' || n from generate_series(1, 120) as n`);
  writeFileSync(join(app, ".env"), `DATABASE_URL=${postgres.url}\n`);
  const unasked = await ending(runIn(app, process.execPath, ["dev.mjs"]));
  expect(unasked).toMatchObject({ code: 1, output: expect.stringContaining("npx holdfast init --tables") });
  const holdfast = join("node_modules", "@holdfast", "server", "dist", "holdfast.js");
  const init = await ending(
    runIn(app, process.execPath, [holdfast, "init", "--yes", "--tables", 'public.tasks,public."Album"']),
  );
  expect(init.code, init.output).toBe(0);

  const env = { PORT: String(await freePort()), HOLDFAST_PORT: "0" };
  const running = await startApp(app, [process.execPath, "dev.mjs"], env);
  const page = await (await startBrowser()).newPage();
  await page.goto(running.urls.page);
  const title = page.getByLabel("title of t1");
  await until(async () => expect(await title.inputValue()).toBe("Call the bank"));
  await db.query("update tasks set title = 'Call the bank today'");
  await until(async () => expect(await title.inputValue()).toBe("Call the bank today"));
  // Of 120 albums 100 are shown. As a text, 3 comes after 100.
  await db.query(`update "Album" set "Title" = 'By SQL' where "AlbumId" = 3`);
  await until(async () => expect(await page.getByLabel("title of 3", { exact: true }).inputValue()).toBe("By SQL"));
  expect(await page.getByText("The first 100 of 120 records.").count()).toBe(1);
  await page.getByLabel("done of t1").check();
  await until(async () => expect((await db.query("select done from tasks")).rows).toEqual([{ done: true }]));
  expect(await violationsOf(page)).toEqual([]);
  expect((await running.interrupt()).code).toBe(0);
});

test("[CR8] the template node-agent starts a server and an agent that finds its work, and one Ctrl-C ends both", async () => {
  const app = await createApp("node-agent");
  linkPackages(app);
  const child = runIn(app, process.execPath, ["dev.mjs"], { HOLDFAST_PORT: "0", THINKING_MS: "1" });
  let printed = "";
  child.stdout?.on("data", (bytes: Buffer) => (printed += bytes.toString()));
  const ended = ending(child);
  onTestFinished(() => void child.kill("SIGTERM"));
  await until(() => expect(printed).toContain("first: notes written"));
  const [, url = ""] = /^ +Server +(http:\/\/\S+?)\/docs$/m.exec(printed) ?? [];
  const add = await ending(runIn(app, "npm", ["run", "add", "--silent", "--", "Why we hurry"], { HOLDFAST_URL: url }));
  const [, id = ""] = /^(\S+): Why we hurry\n$/.exec(add.stdout) ?? [];
  expect(id, add.output).not.toBe("");
  await until(() => expect(printed).toContain(`${id}: notes written`));
  child.kill("SIGINT");
  const { code, output } = await ended;
  expect(code, output).toBe(0);
});
