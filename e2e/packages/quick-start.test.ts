import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject, onTestFinished, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { filesOf } from "../docs/fences.ts";
import type {} from "./global-setup.ts";
import { holdfastIn, startInstalled } from "./installed-server.ts";
import {
  ADDRESS,
  commandsOf,
  configureTypes,
  openFolder,
  runTsc,
  runTsx,
  startBrowser,
  startVite,
} from "./newcomer-page.ts";

const newcomer = inject("newcomer");
const page = readFileSync(fileURLToPath(new URL("../../docs/quick-start.md", import.meta.url)), "utf8");
const commands = commandsOf(page);

test("[DP4] the quick start leads to two windows that sync, work without the server, and converge again", async () => {
  const folder = openFolder("quick-start");
  const server = await startInstalled(holdfastIn(newcomer), folder);
  onTestFinished(() => server.stop());
  const files = filesOf(page);
  expect([...files.keys()]).toEqual([
    "shared.ts",
    "backend.ts",
    "hello.ts",
    "index.html",
    "main.tsx",
    "vite.config.ts",
  ]);
  // Only the port differs from the page.
  expect(files.get("shared.ts")?.split(ADDRESS)).toHaveLength(2);
  for (const [name, text] of files) writeFileSync(join(folder, name), text.replace(ADDRESS, server.url));

  await configureTypes(folder, page);
  expect(await runTsc(folder)).toMatchObject({ code: 0, output: "" });

  expect(commands).toContain("npx tsx hello.ts");
  const hello = await runTsx(folder, "hello.ts");
  expect(hello, hello.output).toMatchObject({ code: 0, stdout: "Hello\nconfirmed\n" });

  expect(commands).toContain("npx vite");
  const url = await startVite(folder);
  const browser = await startBrowser();
  const [ann, ben] = [await browser.newPage(), await browser.newPage()];
  await Promise.all([ann.goto(url), ben.goto(`${url}?user=ben`)]);
  await ann.getByText("ann is online, 0 to send").waitFor();
  await ben.getByText("ben is online, 0 to send").waitFor();
  const titles = (of: typeof ann) =>
    of.getByLabel("Title").evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value));

  await ann.getByLabel("Title").fill("Hello, Ben");
  await until(async () => expect(await titles(ben)).toEqual(["Hello, Ben"]));
  await ben.getByRole("button", { name: "Add" }).click();
  await until(async () => expect(await titles(ann)).toEqual(["Hello, Ben", "New"]));

  server.stop();
  expect((await server.ended).code).toBe(0);
  await ben.getByLabel("Title").last().fill("Newer");
  await ben.getByText(/, [12] to send/).waitFor();
  const again = await startInstalled(holdfastIn(newcomer), folder, new URL(server.url).port);
  onTestFinished(() => again.stop());
  await until(async () => expect(await titles(ann)).toEqual(["Hello, Ben", "Newer"]));
  await ben.getByText("ben is online, 0 to send").waitFor();
});
