import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startEmbeddedPostgres } from "@holdfast/server";
import pg from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { fencesOf, filesOf } from "../docs/fences.ts";
import type {} from "./global-setup.ts";
import { holdfastIn, startInstalled } from "./installed-server.ts";
import { ADDRESS, commandsOf, openFolder, startBrowser, startVite } from "./newcomer-page.ts";
import { ending, runIn } from "./run-command.ts";

const newcomer = inject("newcomer");
const page = readFileSync(fileURLToPath(new URL("../../docs/existing-app.md", import.meta.url)), "utf8");
const commands = commandsOf(page);
const textsOf = (wanted: string) => fencesOf(page).flatMap(({ language, text }) => (language === wanted ? text : []));

/** The words of a command of the page that begins with `npx holdfast`. */
function wordsOf(beginning: string): string[] {
  const command = commands.flatMap((text) => text.split("\n")).find((line) => line.startsWith(beginning));
  return (command ?? "").split(" ").slice(2);
}
/** The same program, however it is formatted. */
const bare = (source: string) => source.replaceAll(/^\/\/.*\n/gm, "").replaceAll(/[\s,]/g, "");

test("[DP8] the page about existing apps leads from a table to a list that follows SQL, and writes it", async () => {
  const postgres = await startEmbeddedPostgres({ throwaway: true });
  onTestFinished(() => postgres.stop());
  const db = new pg.Client({ connectionString: postgres.url });
  await db.connect();
  onTestFinished(() => db.end());
  const [create = "", update = ""] = textsOf("sql");
  await db.query(create);

  const folder = openFolder("existing-app");
  writeFileSync(join(folder, ".env"), `DATABASE_URL="${postgres.url}"\n`);
  const program = holdfastIn(newcomer);
  expect(commands[0]).toMatch(/\nnpx holdfast init$/);
  const init = await ending(runIn(folder, program, wordsOf("npx holdfast init --tables")));
  expect(init, init.output).toMatchObject({ code: 0, stdout: textsOf("text")[0] });
  const files = filesOf(page);
  expect(bare(readFileSync(join(folder, "schema.ts"), "utf8"))).toBe(bare(files.get("schema.ts") ?? ""));
  expect(existsSync(join(folder, "first.mjs"))).toBe(true);

  expect(commands).toContain("npx holdfast");
  const server = await startInstalled(program, folder, "0", []);
  onTestFinished(() => server.stop());
  expect(["vite.config.mts", "tasks.tsx", "tasks.html"].filter((name) => !files.has(name))).toEqual([]);
  // Only the port differs from the page.
  for (const [name, text] of files)
    if (name !== "schema.ts") writeFileSync(join(folder, name), text.replace(ADDRESS, server.url));
  const url = await startVite(folder);
  const browser = await startBrowser();
  const ann = await browser.newPage();
  await ann.goto(`${url}tasks.html`);
  await ann.getByLabel("Call the bank").waitFor();
  await db.query(update);
  await ann.getByLabel("Call the bank today").check();
  const done = async () => (await db.query("select done from tasks")).rows;
  await until(async () => expect(await done()).toEqual([{ done: true }]));

  server.stop();
  await server.ended;
  await ann.getByLabel("Call the bank today").uncheck();
  const port = new URL(server.url).port;
  const again = await startInstalled(program, folder, port, []);
  onTestFinished(() => again.stop());
  await until(async () => expect(await done()).toEqual([{ done: false }]));
});
