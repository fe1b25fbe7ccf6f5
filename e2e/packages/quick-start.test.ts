import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright";
import { expect, inject, onTestFinished, test } from "vitest";
import { browserArguments, findChromium } from "../../scripts/browser.mjs";
import { root } from "../../scripts/root.mjs";
import { fencesOf, filesOf } from "../docs/fences.ts";
import type {} from "./global-setup.ts";
import { holdfastIn, startInstalled } from "./installed-server.ts";
import { ending, runIn } from "./stranger.ts";

const newcomer = inject("newcomer");
const page = readFileSync(fileURLToPath(new URL("../../docs/quick-start.md", import.meta.url)), "utf8");
const ADDRESS = "http://127.0.0.1:8787";
const commands = fencesOf(page)
  .filter(({ language }) => language === "sh")
  .map(({ text }) => text.trimEnd());

/** Of a folder in the one where the packages are installed already; the other tools are the workspace's. */
function openFolder(): string {
  const folder = join(newcomer, "quick-start");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  return folder;
}

async function startVite(folder: string): Promise<string> {
  const vite = runIn(folder, process.execPath, [join(root, "node_modules", "vite", "bin", "vite.js")], {
    NO_COLOR: "1",
  });
  onTestFinished(() => void vite.kill("SIGTERM"));
  let said = "";
  vite.stdout?.on("data", (text: Buffer) => (said += text.toString()));
  vite.stderr?.on("data", (text: Buffer) => (said += text.toString()));
  await expect.poll(() => said, { timeout: 20_000 }).toMatch(/Local: +http:\S+/);
  return /Local: +(http:\S+)/.exec(said)?.[1] ?? "";
}

test("[DP4] the quick start leads to two windows that hear each other, go on without the server, and agree again", {
  timeout: 120_000,
}, async () => {
  const folder = openFolder();
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
  // The port is not ours to choose here; everything else is what stands there.
  expect(files.get("shared.ts")?.split(ADDRESS)).toHaveLength(2);
  for (const [name, text] of files) writeFileSync(join(folder, name), text.replace(ADDRESS, server.url));

  expect(commands).toContain("npx tsx hello.ts");
  const tsx = join(root, "node_modules", "tsx", "dist", "cli.mjs");
  const hello = await ending(runIn(folder, process.execPath, [tsx, "hello.ts"]));
  expect(hello, hello.output).toMatchObject({ code: 0, stdout: "Hello\nconfirmed\n" });

  expect(commands).toContain("npx vite");
  const url = await startVite(folder);
  const executablePath = findChromium();
  const browser = await chromium.launch({ args: browserArguments, ...(executablePath && { executablePath }) });
  onTestFinished(() => browser.close());
  const [ann, ben] = [await browser.newPage(), await browser.newPage()];
  await Promise.all([ann.goto(url), ben.goto(`${url}?user=ben`)]);
  await ann.getByText("ann is online, 0 to send").waitFor();
  await ben.getByText("ben is online, 0 to send").waitFor();
  const titles = (of: typeof ann) =>
    of.getByLabel("Title").evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value));

  await ann.getByLabel("Title").fill("Hello, Ben");
  await expect.poll(() => titles(ben), { timeout: 10_000 }).toEqual(["Hello, Ben"]);
  await ben.getByRole("button", { name: "Add" }).click();
  await expect.poll(() => titles(ann), { timeout: 10_000 }).toEqual(["Hello, Ben", "New"]);

  server.stop();
  expect((await server.ended).code).toBe(0);
  await ben.getByLabel("Title").last().fill("Newer");
  await ben.getByText(/, [12] to send/).waitFor();
  const again = await startInstalled(holdfastIn(newcomer), folder, new URL(server.url).port);
  onTestFinished(() => again.stop());
  await expect.poll(() => titles(ann), { timeout: 40_000 }).toEqual(["Hello, Ben", "Newer"]);
  await ben.getByText("ben is online, 0 to send").waitFor();
});
