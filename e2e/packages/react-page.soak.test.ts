import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright";
import { expect, inject, onTestFinished, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { filesOf, printed } from "../docs/fences.ts";
import type {} from "./global-setup.ts";
import { holdfastIn, startInstalled } from "./installed-server.ts";
import { ADDRESS, commandsOf, configureTypes, openFolder, runTsx, startBrowser, startVite } from "./newcomer-page.ts";

const read = (name: string) => readFileSync(fileURLToPath(new URL(`../../docs/${name}`, import.meta.url)), "utf8");
const page = read("react.md");
const own = filesOf(page);

/** A folder with the files of the quick start and of the page about React, and its server. */
async function start(): Promise<string> {
  const folder = openFolder("react-page");
  const server = await startInstalled(holdfastIn(inject("newcomer")), folder);
  onTestFinished(() => server.stop());
  for (const [name, text] of [...filesOf(read("quick-start.md")), ...own])
    writeFileSync(join(folder, name), text.replace(ADDRESS, server.url));
  await configureTypes(folder, read("quick-start.md"));
  expect(await runTsx(folder, "hello.ts")).toMatchObject({ code: 0 });
  return folder;
}

test("[DP6] every component of the React page behaves in two windows as documented, and renders on its server", async () => {
  const folder = await start();
  const url = await startVite(folder);
  const browser = await startBrowser();
  const faults: string[] = [];
  let renders = 0;
  const open = async (address: string, note: (text: string) => void) => {
    const opened = await browser.newPage();
    opened.on("pageerror", (error) => faults.push(error.message));
    opened.on("console", (message) => {
      const { url: about } = message.location();
      // The browser requests one by itself.
      if (message.type() === "error" && !about.endsWith("/favicon.ico")) faults.push(`${message.text()} ${about}`);
      note(message.text());
    });
    await opened.goto(address);
    return opened;
  };
  const ann = await open(`${url}hooks.html`, (text) => {
    if (text === "SlideCount was rendered") renders += 1;
  });
  const shows = (who: Page, text: string) => who.getByText(text).waitFor();
  const press = (who: Page, name: string) => who.getByRole("button", { name, exact: true }).click();
  const title = (who: Page) => who.getByLabel("Title", { exact: true });
  const claimed = (who: Page) => who.getByLabel("Claimed title");
  const showsReadOnly = (who: Page, readOnly: string | null) =>
    until(async () => expect(await claimed(who).getAttribute("readonly")).toBe(readOnly));
  const showsTitle = (who: Page, expected: string) =>
    until(async () => expect(await title(who).inputValue()).toBe(expected));

  // Reading, suspense, status.
  await ann.getByRole("heading", { name: "Hello" }).waitFor();
  await shows(ann, "online, 0 to send. This slide is saved. This tab sends for all tabs.");
  await shows(ann, "1 slides");

  // Presence.
  const ben = await open(`${url}hooks.html?user=ben`, () => {});
  await shows(ann, "ann, awake and ben, awake");
  await press(ann, "Say that I am tired");
  await shows(ben, "ben, awake and ann, tired");

  // Writing, and the rendered result.
  const before = renders;
  await title(ben).fill("Hello, all");
  await showsTitle(ann, "Hello, all");
  await ann.getByRole("heading", { name: "Hello, all" }).waitFor();
  expect(renders).toBe(before);
  await press(ann, "Add");
  await shows(ann, "2 slides");
  expect(renders).toBeGreaterThan(before);
  await shows(ann, "Slides by deck: d1 2. 2 titles with an e.");
  await press(ann, "Delete “New”");
  await shows(ben, "1 slides");
  await press(ann, "Call it untitled");
  await showsTitle(ben, "Untitled");
  await press(ann, "Undo");
  await showsTitle(ben, "Hello, all");
  await press(ann, "Redo");
  await showsTitle(ben, "Untitled");
  await press(ann, "Undo");
  await showsTitle(ben, "Hello, all");

  // Claims.
  await claimed(ann).focus();
  await shows(ben, "ann writes here.");
  await shows(ben, "1 of these slides are held.");
  await showsReadOnly(ben, "");
  await claimed(ann).fill("Under a claim");
  await claimed(ann).blur();
  await showsTitle(ben, "Under a claim");
  await showsReadOnly(ben, null);

  // Offline, pending writes, and the warning before the page is closed.
  await press(ann, "Go offline");
  await title(ann).fill("Ann’s");
  await shows(ann, "paused, 1 to send. This slide waits.");
  const leaving = ann.goto("about:blank").catch(() => {});
  const question = await ann.waitForEvent("dialog");
  expect(question.type()).toBe("beforeunload");
  await question.dismiss();
  await leaving;

  // Decisions of a person.
  await title(ben).fill("Ben’s");
  await shows(ben, "online, 0 to send. This slide is saved.");
  await press(ann, "Go online");
  await shows(ann, "You wrote “Ann’s”, user:ben wrote “Ben’s”.");
  await press(ann, "Keep mine");
  await showsTitle(ben, "Ann’s");
  // The module that the page has loaded already.
  await ann.evaluate(`import("/sync.ts").then(({ client }) => {
    client.models.slide.update("no-such-slide", { title: "Hello?" }).receipt.catch(() => {});
  })`);
  await shows(ann, "Refused:");
  await press(ann, "Forget it");
  await ann.getByText("Refused:").waitFor({ state: "detached" });

  // The devtools: in development, and on demand.
  await ann.getByRole("button", { name: /^Open Holdfast devtools\. Connected/ }).waitFor();
  await press(ann, "Look inside");
  await ann.getByRole("tab", { name: "Status" }).press("Escape");
  await until(async () => expect(await ann.evaluate(() => document.activeElement?.textContent)).toBe("Look inside"));
  expect(faults).toEqual([]);

  // The server.
  expect(commandsOf(page)).toEqual(["npx tsx render.tsx"]);
  const rendered = await runTsx(folder, "render.tsx");
  expect(rendered, rendered.output).toMatchObject({ code: 0, stdout: printed(own.get("render.tsx") ?? "") });
});

test("[DP6] the page of all components shows each of them, and each hook is used in one", async () => {
  const components = [...own.keys()].filter(
    (name) => name.endsWith(".tsx") && !["hooks.tsx", "render.tsx"].includes(name),
  );
  const shown = [...(own.get("hooks.tsx") ?? "").matchAll(/from "\.\/(.*\.tsx)"/g)].map(([, name]) => name);
  expect(shown.sort()).toEqual(components.sort());
  const { createHooks } = await import("@holdfast/react");
  const used = components.map((name) => own.get(name)).join("\n");
  expect(Object.keys(createHooks()).filter((hook) => !used.includes(`${hook}(`))).toEqual([]);
});
