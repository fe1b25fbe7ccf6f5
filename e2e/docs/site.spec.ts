import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { type Browser, expect, type Page, test } from "@playwright/test";
import { root } from "../../scripts/root.mjs";
import { addresses } from "../../site/pages.ts";
import { openSearchIndex } from "../../site/search-index.ts";
import { type FolderServer, serveFolder } from "../../site/serve-folder.ts";
import { seriousViolations } from "../support/axe.ts";
import { watchFaults } from "../support/page-faults.ts";
import { questions } from "./search-questions.ts";

// One worker builds the site, and its tests read what was built.
test.describe.configure({ mode: "default" });

const base = "/docs/of/holdfast/";
let folder: string;
let site: FolderServer;

test.beforeAll(async () => {
  // Here, because the runner also loads this file to list its tests.
  folder = mkdtempSync(join(tmpdir(), "holdfast-site-"));
  const flags = ["--conditions=holdfast-source", "--import", "tsx"];
  const words = ["site/main.ts", "--base", base, "--out", folder];
  const child = spawn(process.execPath, [...flags, ...words], { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
  let printed = "";
  child.stderr.on("data", (bytes) => (printed += String(bytes)));
  const [code] = (await once(child, "close")) as [number];
  expect(code, printed).toBe(0);
  site = await serveFolder(folder, { base });
});

test.afterAll(() => {
  site?.close();
  rmSync(folder, { recursive: true, force: true });
});

const htmlOf = (address: string) => address.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, ".html");
const fetched = new Map<string, Promise<string | undefined>>();
/** The text of an address of the site, or undefined if there is none. */
function read(address: string): Promise<string | undefined> {
  const text = fetched.get(address) ?? fetch(new URL(address, site.url)).then((it) => (it.ok ? it.text() : undefined));
  fetched.set(address, text);
  return text;
}

test("[DP12] every page has a title and a description of its own", async () => {
  const titles = new Map<string, string>();
  const descriptions = new Map<string, string>();
  for (const address of addresses.values()) {
    const page = (await read(htmlOf(address))) ?? "";
    titles.set(address, /<title>(.*?)<\/title>/.exec(page)?.[1] ?? "");
    descriptions.set(address, /<meta name="description" content="(.*?)">/.exec(page)?.[1] ?? "");
  }
  for (const [address, title] of titles) expect(title, address).toMatch(/^.+ \| Holdfast$|^Holdfast$/);
  for (const [address, says] of descriptions) expect(says, address).toMatch(/^\S.{15,200}$/);
  expect(repeated([...titles.values()])).toEqual([]);
  expect(repeated([...descriptions.values()])).toEqual([]);
});

const repeated = (texts: string[]) => texts.filter((text, at) => texts.indexOf(text) !== at);

/** The hosts to which the pages lead. */
const knownHosts = new Set([
  ...["ai-sdk.dev", "docs.npmjs.com", "github.com", "node-postgres.com", "preactjs.com", "semver.org", "tanstack.com"],
  ...["www.npmjs.com", "www.standardwebhooks.com", "localhost:3000"],
]);

test("[DP13] every link leads to a page and a heading, or to a known host", async () => {
  const pages = new Set([...addresses.values()].map(htmlOf));
  const dead: string[] = [];
  const hosts = new Set<string>();
  let links = 0;
  for (const from of pages) {
    const text = (await read(from)) ?? "";
    for (const [, link = ""] of text.matchAll(/<a\b[^>]*? href="(.*?)"/g)) {
      links += 1;
      const url = new URL(link.replaceAll("&amp;", "&"), new URL(from, site.url));
      if (!url.href.startsWith(site.url)) {
        hosts.add(url.host);
        continue;
      }
      const target = url.href.slice(site.url.length).replace(/#.*/, "");
      const heading = decodeURIComponent(url.hash.slice(1));
      const isThere = pages.has(target) && (heading === "" || (await read(target))?.includes(` id="${heading}"`));
      if (!isThere) dead.push(`${from}: ${link}`);
    }
  }
  expect(links).toBeGreaterThan(2_000);
  expect([...new Set(dead)]).toEqual([]);
  expect([...hosts].filter((host) => !knownHosts.has(host))).toEqual([]);
});

test("[DP13] a link to a source file is the path of the file", async () => {
  const page = (await read("comparison.html")) ?? "";
  expect(page).toContain("<code>packages/sdk/src/api/attention.test.ts</code>");
  expect(page).not.toContain('href="../packages');
});

test("[DP14] every page is there as Markdown, and its links lead to Markdown", async () => {
  const dead: string[] = [];
  for (const address of ["llms.txt", ...addresses.values()]) {
    const text = (await read(address)) ?? "";
    expect(text, address).toMatch(/^# \S/);
    const prose = text.replaceAll(/^( *`{3,}).*?^\1$/gms, "").replaceAll(/`[^`\n]*`/g, "");
    for (const [, link = ""] of prose.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g))
      if ((await read(posix.join(posix.dirname(address), link))) === undefined) dead.push(`${address}: ${link}`);
  }
  expect(dead).toEqual([]);
  expect(await read("conflicts.html")).toContain(`rel="alternate" type="text/markdown" href="${base}conflicts.md"`);
});

test("[DP14] llms.txt lists pages of the site, and llms-full.txt has all of them", async () => {
  const list = (await read("llms.txt")) ?? "";
  expect(list).toContain("](conflicts.md): ");
  expect(list).toContain("](packages/sdk.md): ");
  const all = (await read("llms-full.txt")) ?? "";
  for (const address of addresses.values()) expect(all, address).toContain(`<!-- ${address} -->\n\n# `);
});

test("[DP16] each question finds its page among the first three results", async () => {
  const search = await openSearchIndex(folder);
  const missed = Object.entries(questions).flatMap(([question, pages]) => {
    const found = search(question).slice(0, 3);
    const isFound = pages.some((page) => found.some((id) => id.replace(/#.*/, "") === `${base}${page}.html`));
    return isFound ? [] : [`${question}: ${found.join(", ")}`];
  });
  expect(Object.keys(questions).length).toBeGreaterThanOrEqual(40);
  expect(missed).toEqual([]);
});

/** A page with the faults that it has shown so far. */
async function openPage(browser: Browser, options: Parameters<Browser["newPage"]>[0]) {
  const page = await browser.newPage(options);
  return { page, faults: watchFaults(page, new URL(site.url).origin) };
}

const search = async (page: Page, words: string) => {
  await page.keyboard.press("Control+k");
  await page.getByRole("searchbox").fill(words);
};

test("[DP15] a reader searches and follows results, without requests to other hosts", async ({ browser }) => {
  const { page, faults } = await openPage(browser, { viewport: { width: 1280, height: 900 } });
  await page.goto(site.url);
  await expect(page.getByRole("img", { name: /^The demo/ })).toHaveJSProperty("complete", true);
  for (const [words, title] of [
    ["resolve conflict", "Conflicts"],
    ["delete user data", "Erasing a record"],
    ["docker compose", "Containers"],
  ] as const) {
    await search(page, words);
    await page.getByRole("option").filter({ hasText: title }).first().click();
    await expect(page.getByRole("heading", { level: 1 })).toContainText(title);
  }
  await page.getByRole("link", { name: "Quick start" }).first().click();
  await expect(page).toHaveURL(`${site.url}quick-start.html`);
  await page.goBack();
  await expect(page).toHaveURL(/\/containers\.html/);
  expect(faults).toEqual([]);
  await page.close();
});

test("[DP17] the keyboard reaches search, its results and the navigation", async ({ browser }) => {
  const { page, faults } = await openPage(browser, { viewport: { width: 1280, height: 900 } });
  await page.goto(`${site.url}claims.html`);
  await tabTo(page, "a.VPSkipLink");
  await tabTo(page, ".VPNavBarSearch button");
  await page.keyboard.press("Enter");
  await page.getByRole("searchbox").fill("verify webhook signature");
  await expect(page.getByRole("option").first()).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/webhooks/);
  await page.goto(`${site.url}claims.html`);
  await tabTo(page, '.VPSidebar a[href$="/conflicts.html"]');
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`${site.url}conflicts.html`);
  expect(faults).toEqual([]);
  await page.close();
});

/** Presses Tab until this element has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  const isThere = () => page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector);
  for (let presses = 0; presses < 60 && !(await isThere()); presses += 1) await page.keyboard.press("Tab");
  expect(await isThere(), `Tab reaches ${selector}`).toBe(true);
}

const samples = ["", "quick-start.html", "comparison.html", "own-tables.html", "packages/sdk.html"];

test("[DP17] on a phone a reader opens the menu, searches, and never scrolls sideways", async ({ browser }) => {
  const { page, faults } = await openPage(browser, { viewport: { width: 390, height: 844 }, hasTouch: true });
  for (const sample of samples) {
    await page.goto(`${site.url}${sample}`);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width, sample).toBeLessThanOrEqual(390);
  }
  await page.getByRole("button", { name: "Menu", exact: true }).tap();
  await page
    .locator(".VPSidebar")
    .getByRole("link", { name: /^Offline/ })
    .tap();
  await expect(page).toHaveURL(`${site.url}offline.html`);
  await page.getByRole("button", { name: "Search" }).tap();
  await page.getByRole("searchbox").fill("lock record");
  await page.getByRole("option").filter({ hasText: "Claims" }).first().tap();
  await expect(page).toHaveURL(/claims\.html/);
  expect(faults).toEqual([]);
  await page.close();
});

test("[DP17] axe finds nothing serious, light and dark", async ({ browser }) => {
  const { page, faults } = await openPage(browser, { viewport: { width: 1280, height: 900 } });
  for (const sample of samples) {
    await page.goto(`${site.url}${sample}`);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expect(page.locator("html")).toHaveClass(colorScheme === "dark" ? /dark/ : /^(?!.*dark)/);
      expect(await seriousViolations(page), `${sample} ${colorScheme}`).toEqual([]);
    }
  }
  expect(faults).toEqual([]);
  await page.close();
});
