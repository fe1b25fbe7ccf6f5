import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserArguments, findChromium } from "../../scripts/browser.mjs";
import { until } from "../../scripts/testing/until.ts";
import { ending, runIn } from "../packages/run-command.ts";
import { freePort, type InstalledExample, installTemplate } from "./install-example.ts";

const children: ChildProcess[] = [];
const quiet = { NEXT_TELEMETRY_DISABLED: "1" };
let example: InstalledExample;
let backendUrl: string;
let pageUrl: string;

beforeAll(async () => {
  example = await installTemplate("next");
  const { folder } = example;
  const backend = runIn(folder, join(folder, "node_modules", ".bin", "holdfast"), [], { PORT: "0" });
  children.push(backend);
  backendUrl = await new Promise<string>((resolve, reject) => {
    backend.stdout?.once("data", (line: Buffer) => resolve(JSON.parse(line.toString()).url));
    backend.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)));
  });
  await example.run("npm", ["run", "setup"], { HOLDFAST_URL: backendUrl });
  await example.run("npm", ["run", "build"], quiet);

  const port = await freePort();
  pageUrl = `http://127.0.0.1:${port}`;
  // Node itself, and not a shell around it: so that ending it ends all of it.
  const next = join(folder, "node_modules", "next", "dist", "bin", "next");
  const serve = [next, "start", "--hostname", "127.0.0.1", "--port", String(port)];
  children.push(runIn(folder, process.execPath, serve, { ...quiet, HOLDFAST_URL: backendUrl }));
  await until(() => fetch(pageUrl));
}, 300_000);

afterAll(async () => {
  await Promise.all(children.map((child) => (child.kill("SIGTERM") ? ending(child) : undefined)));
  example.remove();
});

test("[V25] the server renders the page with its slides, and without the secret key", async () => {
  const html = await (await fetch(pageUrl)).text();
  expect(html).toContain('value="Hello from the server"');
  const { live } = JSON.parse(readFileSync(join(example.folder, ".holdfast", "keys.json"), "utf8"));
  expect(html).not.toContain(live);
});

test("[V25] a browser hydrates the page without warnings or requests to other hosts, and its edit reaches the log", async () => {
  const executablePath = findChromium();
  const browser = await chromium.launch({ args: browserArguments, ...(executablePath && { executablePath }) });
  try {
    const page = await browser.newPage();
    const complaints: string[] = [];
    const outsiders: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      // The browser requests an icon that the template does not have.
      const isIcon = message.location().url.endsWith("/favicon.ico");
      if (message.type() === "error" && !isIcon) complaints.push(message.text());
    });
    page.on("request", (request) => {
      if (new URL(request.url()).hostname !== "127.0.0.1") outsiders.push(request.url());
    });
    await page.goto(pageUrl);
    await page.getByText("online, 0 unsettled").waitFor();
    const title = page.getByLabel("Title of slide s1");
    await title.fill("Edited in the browser");
    await title.blur();
    await page.getByRole("button", { name: "Add a slide" }).click();
    await until(async () => expect(await page.getByRole("listitem").count()).toBe(2));
    await page.getByText("online, 0 unsettled").waitFor();
    const again = await (await fetch(pageUrl)).text();
    expect(again).toContain('value="Edited in the browser"');
    expect(again).toContain('value="New slide"');
    // A second visit has its own rows on disk, and the page as the server rendered it.
    await page.reload();
    await page.getByText("online, 0 unsettled").waitFor();
    expect(await title.inputValue()).toBe("Edited in the browser");
    // Built for production: no devtools.
    expect(await page.locator(".holdfast-devtools").count()).toBe(0);
    expect(complaints).toEqual([]);
    expect(outsiders).toEqual([]);
  } finally {
    await browser.close();
  }
});
