import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright";
import { expect, inject, onTestFinished } from "vitest";
import { browserArguments, findChromium } from "../../scripts/browser.mjs";
import { root } from "../../scripts/root.mjs";
import { fencesOf } from "../docs/fences.ts";
import type {} from "./global-setup.ts";
import { ending, runIn } from "./stranger.ts";

/** Where the pages of the documentation say that the server is. */
export const ADDRESS = "http://127.0.0.1:8787";

/** What a page says to type. */
export const commandsOf = (page: string): string[] =>
  fencesOf(page)
    .filter(({ language }) => language === "sh")
    .map(({ text }) => text.trimEnd());

/** Of a folder in the one where the packages are installed already; the other tools are the workspace's. */
export function openFolder(name: string): string {
  const folder = join(inject("newcomer"), name);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  return folder;
}

/** `npx tsx file` */
export const runTsx = (folder: string, file: string) =>
  ending(runIn(folder, process.execPath, [join(root, "node_modules", "tsx", "dist", "cli.mjs"), file]));

/** `npx vite` */
export async function startVite(folder: string): Promise<string> {
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

export async function startBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  const browser = await chromium.launch({ args: browserArguments, ...(executablePath && { executablePath }) });
  onTestFinished(() => browser.close());
  return browser;
}
