import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Page } from "playwright";
import { expect, inject, onTestFinished } from "vitest";
import { browserArguments, findChromium } from "../../scripts/browser.mjs";
import { root } from "../../scripts/root.mjs";
import { until } from "../../scripts/testing/until.ts";
import { fencesOf } from "../docs/fences.ts";
import type {} from "./global-setup.ts";
import { ending, runIn } from "./run-command.ts";

/** The server's URL on the documentation's pages. */
export const ADDRESS = "http://127.0.0.1:8787";

/** The commands of a page. */
export const commandsOf = (page: string): string[] =>
  fencesOf(page)
    .filter(({ language }) => language === "sh")
    .map(({ text }) => text.trimEnd());

/** A folder inside the one with the installed packages. Other tools come from the workspace. */
export function openFolder(name: string): string {
  const folder = join(inject("newcomer"), name);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  return folder;
}

/** Writes the `tsconfig.json` of a page, with the page's own command. */
export async function configureTypes(folder: string, page: string): Promise<void> {
  const command = commandsOf(page)
    .flatMap((block) => block.split("\n"))
    .find((line) => line.endsWith("> tsconfig.json"));
  expect(await ending(runIn(folder, "sh", ["-c", command ?? "exit 1"]))).toMatchObject({ code: 0 });
}

/** `npx tsc` */
export function runTsc(folder: string): ReturnType<typeof ending> {
  const modules = join(folder, "node_modules");
  mkdirSync(modules, { recursive: true });
  symlinkSync(join(root, "node_modules", "vite"), join(modules, "vite"), "junction");
  return ending(runIn(folder, process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc")]));
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
  let printed = "";
  vite.stdout?.on("data", (text: Buffer) => (printed += text.toString()));
  vite.stderr?.on("data", (text: Buffer) => (printed += text.toString()));
  await until(() => expect(printed).toMatch(/Local: +http:\S+/));
  return /Local: +(http:\S+)/.exec(printed)?.[1] ?? "";
}

/** Ends what hangs, and nothing else. */
const PATIENCE_MS = 60_000;

/** Pages that share nothing. */
export async function startBrowser(): Promise<{ newPage(): Promise<Page> }> {
  const executablePath = findChromium();
  const browser = await chromium.launch({ args: browserArguments, ...(executablePath && { executablePath }) });
  onTestFinished(() => browser.close());
  return {
    async newPage() {
      const page = await browser.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      return page;
    },
  };
}
