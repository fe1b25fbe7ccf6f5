import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { browserArguments, findChromium } from "../../scripts/browser.mjs";
import { root } from "../../scripts/root.mjs";
import { filesOf } from "../docs/fences.ts";
import type {} from "./global-setup.ts";
import { holdfastIn, startInstalled } from "./installed-server.ts";
import { ADDRESS, commandsOf, openFolder, runTsx, startVite } from "./newcomer-page.ts";
import { ending, runIn } from "./run-command.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const page = read("docs/testing.md");
const PAGE_ADDRESS = "http://localhost:5173";

test("[DP9] the Playwright test of the testing page passes beside the quick start, also a second time", async () => {
  const folder = openFolder("playwright-page");
  const server = await startInstalled(holdfastIn(inject("newcomer")), folder);
  onTestFinished(() => server.stop());
  const write = (name: string, text = "") => writeFileSync(join(folder, name), text);
  for (const [name, text] of filesOf(read("docs/quick-start.md"))) write(name, text.replace(ADDRESS, server.url));
  expect(await runTsx(folder, "hello.ts")).toMatchObject({ code: 0 });
  const url = (await startVite(folder)).replace(/\/$/, "");

  // The addresses and the browser are this machine's; both servers run already, which the configuration allows.
  const executablePath = findChromium();
  const launchOptions = JSON.stringify({ args: browserArguments, ...(executablePath && { executablePath }) });
  const files = filesOf(page);
  const config = files.get("playwright.config.ts") ?? "";
  expect(config.split(PAGE_ADDRESS)).toHaveLength(3);
  expect(config.split(ADDRESS)).toHaveLength(2);
  write(
    "playwright.config.ts",
    config
      .replaceAll(PAGE_ADDRESS, url)
      .replace(ADDRESS, server.url)
      .replace("use: {", `use: { launchOptions: ${launchOptions},`),
  );
  write("two-people.spec.ts", files.get("two-people.spec.ts"));
  mkdirSync(join(folder, "node_modules", "@playwright"), { recursive: true });
  symlinkSync(join(root, "e2e/node_modules/@playwright/test"), join(folder, "node_modules/@playwright/test"));

  expect(commandsOf(page).join("\n")).toContain("npx playwright test");
  for (const round of ["first", "second"]) {
    const words = [join(root, "e2e/node_modules/@playwright/test/cli.js"), "test"];
    const ran = await ending(runIn(folder, process.execPath, words));
    expect(ran, `${round}: ${ran.output}`).toMatchObject({ code: 0 });
    expect(ran.output).toContain("1 passed");
  }
});
