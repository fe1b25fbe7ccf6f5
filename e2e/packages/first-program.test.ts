import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import type {} from "./global-setup.ts";
import { holdfastIn, startInstalled } from "./installed-server.ts";
import { ending, runIn } from "./run-command.ts";

const folder = inject("newcomer");

/** The exact text that people copy. */
const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const program = /^```js\n(\/\/ hello\.mjs.*?)^```$/ms.exec(readme)?.[1] ?? "";
const ADDRESS = "http://127.0.0.1:8787";
const holdfast = holdfastIn(folder);

test("[PK3] the README's first program takes 15 lines at most, and runs against the installed server", async () => {
  expect(program.trimEnd().split("\n").length).toBeLessThanOrEqual(15);
  // Only the port differs from the page.
  expect(program.split(ADDRESS)).toHaveLength(2);
  const server = await startInstalled(holdfast, folder);
  onTestFinished(() => server.stop());
  writeFileSync(join(folder, "hello.mjs"), program.replace(ADDRESS, server.url));
  const hello = await ending(runIn(folder, process.execPath, ["hello.mjs"]));
  expect(hello.output).toMatch(/title: 'Hello'/);
  expect(hello.output.trimEnd().split("\n").at(-1)).toBe("confirmed");
  expect(hello.code).toBe(0);

  const log = await ending(runIn(folder, holdfast, ["--url", server.url, "--json", "schema", "show"]));
  expect(JSON.parse(log.stdout)).toMatchObject({ models: { slide: { fields: { title: { type: "string" } } } } });

  const page = await fetch(`${server.url}/docs`);
  expect(page.status).toBe(200);
  server.stop();
  expect((await server.ended).code).toBe(0);
});

test("[PK3] npx finds the programs, and their help describes them", async () => {
  const [server, commands, mcp] = await Promise.all([
    ending(runIn(folder, "npx", ["--no-install", "@holdfast/server", "--help"])),
    ending(runIn(folder, holdfast, ["help"])),
    ending(runIn(folder, "npx", ["--no-install", "holdfast-mcp", "--help"])),
  ]);
  expect(server).toMatchObject({ code: 0, stdout: expect.stringContaining("DATABASE_URL") });
  expect(commands).toMatchObject({ code: 0, stdout: expect.stringContaining("webhooks") });
  expect(mcp).toMatchObject({ code: 0, stdout: expect.stringContaining("HOLDFAST_TOKEN") });
});

test("[PK3] without its optional package only a queue in a file is refused, with a sentence", async () => {
  const text = `
    import { createClient, defineSchema, fileStorage } from "@holdfast/sdk/node";
    const schema = defineSchema({ models: { slide: { fields: { title: { type: "string" } } } } });
    const options = { schema, url: "http://127.0.0.1:1", getToken: () => "none" };
    try {
      createClient({ ...options, storage: fileStorage("./agent.db") });
    } catch (error) {
      console.log(error.name, error.message);
    }
    const client = createClient(options);
    console.log(client.models.slide.create({ title: "Hello" }).id.length > 0);
    await client.close();
  `;
  const { code, stdout } = await ending(runIn(folder, process.execPath, ["--input-type=module", "--eval", text]));
  expect(stdout).toMatch(/^SyncError .*libsql/m);
  expect(stdout).toMatch(/^true$/m);
  expect(code).toBe(0);
});
